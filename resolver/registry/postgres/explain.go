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
		return fmt.Errorf("server certificate of an unknown authority: %w", err)
	case errors.As(err, new(x509.HostnameError)):
		return fmt.Errorf("server certificate for another name: %w", err)
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return fmt.Errorf("invalid server certificate: %w", err)
	case strings.Contains(err.Error(), "server refused TLS connection"):
		return fmt.Errorf("server does not support TLS, required by sslmode of the URL: %w", err)
	case errors.As(err, &failed) && isOf(failed.Code, codeAuthorization):
		return fmt.Errorf("wrong or missing user or password, or denied by pg_hba.conf: %w", err)
	case errors.As(err, &failed) && failed.Code == codeNoDatabase:
		return fmt.Errorf("no database of this name: %w", err)
	case errors.As(err, &failed) && failed.Code == codeNoRight:
		return fmt.Errorf("insufficient privilege of the user: %w", err)
	case errors.As(err, &unknown):
		return fmt.Errorf("server name lookup failed: %w", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("connection refused at this address and port: %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("server timed out or unreachable: %w", err)
	default:
		return err
	}
}
