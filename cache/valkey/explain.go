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
		return explained{"the server may not speak TLS, so that rediss: is to be redis:, or the port is wrong", err}
	case has("WRONGPASS", "NOAUTH", "invalid password"):
		return explained{"the user or the password is wrong, or missing", err}
	case has("NOPERM"):
		return explained{"the user may not run commands that urnd needs", err}
	case errors.Is(err, errOld) || has("unknown command", "unknown subcommand", "syntax error"):
		return explained{"the server is too old, or lacks commands: Valkey 7.2 or Redis 6.2 is needed", err}
	case has("DB index", "SELECT is not allowed"):
		return explained{"the server has no database of this number", err}
	case has("READONLY"):
		return explained{"the server is a replica, which cannot be written to", err}
	case has("no such master"):
		return explained{"the sentinels watch nothing of the name master_set", err}
	case has("unknown message type"):
		return explained{"it is no server of Valkey or Redis", err}
	case errors.Is(err, errProtocol):
		return explained{"the server does not keep to its protocol: it may be hostile, or damaged", err}
	case errors.Is(err, errConnecting):
		return explainConnecting(err)
	case errors.Is(err, context.DeadlineExceeded):
		return explained{"it was too slow", err}
	default:
		return err
	}
}

func explainCertificate(err error) string {
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "the certificate of the server is of no authority that is trusted"
	case errors.As(err, new(x509.HostnameError)):
		return "the certificate of the server is for another name"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate of the server has expired, or a clock is wrong"
	default:
		return "the certificate of the server is not valid for it"
	}
}

// explainConnecting explains an error without a connection.
func explainConnecting(err error) error {
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown):
		return explained{"the name of the server cannot be looked up", err}
	case errors.Is(err, syscall.ECONNREFUSED):
		return explained{"nothing listens at this address and port", err}
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE):
		return explained{"the server has ended the connection: it may speak TLS, so that redis: is to be rediss:, or is none of Valkey or Redis", err}
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		return explained{"the server was too slow, or cannot be reached", err}
	default:
		return err
	}
}

func isTimeout(err error) bool {
	var timed net.Error
	return errors.As(err, &timed) && timed.Timeout()
}
