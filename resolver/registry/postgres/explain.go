package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// Error codes of PostgreSQL that are caused by wrong settings.
const (
	codeNoDatabase = "3D000"
	codeNoRight    = "42501"
)

// explain adds to an error which setting is wrong, if that is known.
func explain(err error) error {
	var failed *pgconn.PgError
	var unknown *net.DNSError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return fmt.Errorf("the certificate of the server is of no authority that is trusted: %w", err)
	case errors.As(err, new(x509.HostnameError)):
		return fmt.Errorf("the certificate of the server is for another name: %w", err)
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return fmt.Errorf("the certificate of the server is not valid for it: %w", err)
	case strings.Contains(err.Error(), "server refused TLS connection"):
		return fmt.Errorf("the server does not speak TLS, which sslmode of the URL demands: %w", err)
	case errors.As(err, &failed) && isOf(failed.Code, codeAuthorization):
		return fmt.Errorf("the user or the password is wrong or missing, or pg_hba.conf does not allow it: %w", err)
	case errors.As(err, &failed) && failed.Code == codeNoDatabase:
		return fmt.Errorf("the server has no database of this name: %w", err)
	case errors.As(err, &failed) && failed.Code == codeNoRight:
		return fmt.Errorf("the user lacks a right: %w", err)
	case errors.As(err, &unknown):
		return fmt.Errorf("the name of the server cannot be looked up: %w", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens at this address and port: %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the server was too slow, or cannot be reached: %w", err)
	default:
		return err
	}
}
