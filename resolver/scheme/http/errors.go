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

var errUnrequestedUpgrade = fmt.Errorf("%w: unsolicited protocol switch", scheme.ErrInvalidResponse)

// maxInterim is the maximum number of interim responses to a request.
const maxInterim = 16

// unexpectedEOF returns io.ErrUnexpectedEOF for an io.EOF before the expected end.
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// noResponseError is the error of an exchange that failed before the first byte of a response.
type noResponseError struct{ error }

func (u noResponseError) Unwrap() error { return u.error }

// startedError is the error of a fetch for which a connection was reused or dialed.
type startedError struct{ error }

func (b startedError) Unwrap() error { return b.error }

// Is matches scheme.ErrNoResponse for errors.Is.
func (startedError) Is(target error) bool { return target == scheme.ErrNoResponse }

// opening wraps an error of connecting as begun if there was an address to dial.
func opening(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" && !errors.Is(err, netguard.ErrLookup) {
		return startedError{err}
	}
	return err
}

// refused is the error of Request.Check.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

// refusing returns a check whose errors are wrapped as refused; nil for nil.
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

// invalid returns the error of an invalid response.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %w", scheme.ErrInvalidResponse, fmt.Errorf(format, args...))
}

// responseError converts a syntax error of a response to that of an invalid response, and returns any other
// error unchanged.
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

// quoting appends bytes of a response to an error, for the log. Clients get only the text of the original
// error.
func quoting(err error, data string) error { return fmt.Errorf("%w: %.40q", err, data) }

// caused wraps an error of connecting with the cause of ctx, if ctx has ended.
func caused(ctx context.Context, err error) error {
	if ctx.Err() == nil || errors.Is(err, lifetime.Cause(ctx)) {
		return err
	}
	return fmt.Errorf("%w: %w", lifetime.Cause(ctx), err)
}

// kindError adds a kind to an error whose text includes that of the kind already.
type kindError struct{ error, kind error }

func (o kindError) Error() string   { return o.error.Error() }
func (o kindError) Unwrap() []error { return []error{o.error, o.kind} }

// wrap adds the kind to the error of a fetch.
func wrap(u uri.URI, err error) error {
	host, _ := u.Host()
	kind := kindOf(err)
	switch {
	case kind == nil || errors.Is(err, kind):
		return fmt.Errorf("fetching from %s: %w", host, err)
	case strings.Contains(err.Error(), kind.Error()):
		return fmt.Errorf("fetching from %s: %w", host, kindError{err, kind})
	}
	return fmt.Errorf("fetching from %s: %w: %w", host, kind, err)
}

// isTimeout reports whether an error is a timeout.
func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// kindOf returns the kind of an error, nil if the error needs none.
func kindOf(err error) error {
	switch {
	case errors.Is(err, scheme.ErrRequestBody), errors.Is(err, errField), errors.Is(err, errMethod):
		return nil
	case errors.Is(err, netguard.ErrForbidden), errors.As(err, new(refused)):
		return resolver.ErrForbidden
	case isTimeout(err):
		return context.DeadlineExceeded
	default:
		return resolver.ErrUnreachable
	}
}
