package valkey

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
)

var (
	errConnecting = errors.New("connecting")
	errOld        = errors.New("its version is")
)

// explained is an error with one of a few texts that say what is wrong.
type explained struct {
	what string
	err  error
}

// Error implements error.
func (e explained) Error() string { return e.what + ": " + e.err.Error() }

// Unwrap returns the wrapped error.
func (e explained) Unwrap() error { return e.err }

// Explain adds to an error which setting is wrong, or what the server lacks, if that can be determined.
func Explain(err error) error {
	text := err.Error()
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
	}
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		return explained{explainCertificate(err), err}
	case errors.Is(err, errHandshake):
		return explained{"no TLS at this port: use redis: instead of rediss:, or another port", err}
	case has("WRONGPASS", "NOAUTH", "invalid password"):
		return explained{"wrong or missing user or password", err}
	case has("NOPERM"):
		return explained{"user may not run commands that urnd requires", err}
	case errors.Is(err, errOld) || has("unknown command", "unknown subcommand", "syntax error"):
		return explained{"server too old, or without required commands: use Valkey 7.2 or Redis 6.2", err}
	case has("DB index", "SELECT is not allowed"):
		return explained{"no database of this number", err}
	case has("READONLY"):
		return explained{"server is a read-only replica", err}
	case has("no such master"):
		return explained{"sentinels do not monitor the name in master_set", err}
	case has("unknown message type"):
		return explained{"not a Valkey or Redis server", err}
	case errors.Is(err, errProtocol):
		return explained{"protocol violation: the server may be hostile or damaged", err}
	case errors.Is(err, errConnecting):
		return explainConnecting(err)
	case errors.Is(err, context.DeadlineExceeded):
		return explained{"timed out", err}
	default:
		return err
	}
}

func explainCertificate(err error) string {
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "server certificate of an unknown authority"
	case errors.As(err, new(x509.HostnameError)):
		return "server certificate for another name"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "server certificate expired, or wrong clock"
	default:
		return "invalid server certificate"
	}
}

// explainConnecting explains an error without a connection.
func explainConnecting(err error) error {
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown):
		return explained{"server name lookup failed", err}
	case errors.Is(err, syscall.ECONNREFUSED):
		return explained{"connection refused at this address and port", err}
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE):
		return explained{"connection closed by the server: for TLS use rediss: instead of redis:, or it is not " +
			"Valkey or Redis", err}
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		return explained{"server timed out or unreachable", err}
	default:
		return err
	}
}

func isTimeout(err error) bool {
	var timed net.Error
	return errors.As(err, &timed) && timed.Timeout()
}
