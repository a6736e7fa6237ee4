package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"

	"github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/lifetime"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

var errUnasked = fmt.Errorf("%w: it changed the protocol without being asked", scheme.ErrResponse)

// maxInterim bounds the interim responses to one request.
const maxInterim = 16

// early returns the error of what ended before its end.
func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// unanswered is the error of an exchange that ended before the first octet of a response.
type unanswered struct{ error }

func (u unanswered) Unwrap() error { return u.error }

// begun is the error of a fetch for which a connection was found, or begun.
type begun struct{ error }

func (b begun) Unwrap() error { return b.error }

// Is implements the interface of errors.Is.
func (begun) Is(target error) bool { return target == scheme.ErrUnanswered }

// opening returns the error of opening a connection, as one of a connection that was begun where
// there was an address to connect to.
func opening(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" && !errors.Is(err, netguard.ErrLookup) {
		return begun{err}
	}
	return err
}

// refused is the error of a check that a request had.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

// refusing returns a check whose errors are refused; nil for none.
func refusing(check func(netip.AddrPort) error) func(netip.AddrPort) error {
	if check == nil {
		return nil
	}
	return func(server netip.AddrPort) error {
		if err := check(server); err != nil {
			return refused{err}
		}
		return nil
	}
}

// invalid returns the error of a response that is not valid.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %w", scheme.ErrResponse, fmt.Errorf(format, args...))
}

// responseError returns an error of the syntax of a response as that of one that is not valid, and any other error as it is.
func responseError(err error) error {
	var syntax *http1.Error
	if !errors.As(err, &syntax) {
		return err
	}
	err = invalid("%s", syntax.Reason)
	if syntax.Line != "" {
		err = quoting(err, syntax.Line)
	}
	return err
}

// quoting returns an error with octets of a response. They are for the log: a client is told what the error itself says.
func quoting(err error, octets string) error { return fmt.Errorf("%w: %.40q", err, octets) }

// caused returns the error of connecting with the cause of the end of ctx, if that has ended.
func caused(ctx context.Context, err error) error {
	if ctx.Err() == nil || errors.Is(err, lifetime.Cause(ctx)) {
		return err
	}
	return fmt.Errorf("%w: %w", lifetime.Cause(ctx), err)
}

// ofKind is an error of a kind that its text says already.
type ofKind struct{ error, kind error }

func (o ofKind) Error() string   { return o.error.Error() }
func (o ofKind) Unwrap() []error { return []error{o.error, o.kind} }

// wrap adds its kind to the error of a fetch.
func wrap(u uri.URI, err error) error {
	host, _ := u.Host()
	kind := kindOf(err)
	switch {
	case kind == nil || errors.Is(err, kind):
		return fmt.Errorf("fetching from %s: %w", host, err)
	case strings.Contains(err.Error(), kind.Error()):
		return fmt.Errorf("fetching from %s: %w", host, ofKind{err, kind})
	}
	return fmt.Errorf("fetching from %s: %w: %w", host, kind, err)
}

// kindOf returns the kind of an error, nil where it is a kind itself.
func kindOf(err error) error {
	var timeout net.Error
	switch {
	case errors.Is(err, scheme.ErrBody), errors.Is(err, errField), errors.Is(err, errMethod):
		return nil
	case errors.Is(err, netguard.ErrForbidden), errors.As(err, new(refused)):
		return resolver.ErrForbidden
	case errors.As(err, &timeout) && timeout.Timeout():
		return context.DeadlineExceeded
	default:
		return resolver.ErrUnreachable
	}
}
