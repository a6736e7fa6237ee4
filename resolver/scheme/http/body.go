package http

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/urnd/urnd/resolver/scheme"
)

// requestBody is the body of a request, and remembers why it could not be read: that is no
// failure of the origin.
type requestBody struct {
	io.Reader
	failed atomic.Pointer[error]
}

// Read implements io.Reader.
func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, http.ErrBodyReadAfterClose) {
		b.failed.CompareAndSwap(nil, &err)
	}
	return n, err //nolint:wrapcheck // it stands for the reader that it wraps
}

// Close implements io.Closer.
func (b *requestBody) Close() error {
	if closer, ok := b.Reader.(io.Closer); ok {
		return closer.Close() //nolint:wrapcheck // it stands for the reader that it wraps
	}
	return nil
}

// blame returns err as that of the body, if that could not be read.
func (b *requestBody) blame(err error) error {
	if failed := b.failed.Load(); failed != nil {
		return fmt.Errorf("%w: %w", scheme.ErrBody, *failed)
	}
	return err
}

var errUnasked = errors.New("it changed the protocol without being asked")

// check returns an error for a response that no client may get: RFC 9110 section 15 (a status has
// three digits, of which the first is 1 to 9) and section 15.2.2 (101 only where it was asked for).
func check(request *http.Request, response *http.Response) error {
	switch {
	case response.StatusCode < 100 || response.StatusCode > 999:
		return fmt.Errorf("its status %03d is none of HTTP", response.StatusCode)
	case response.StatusCode == http.StatusSwitchingProtocols && request.Header.Get("Upgrade") == "":
		return errUnasked
	default:
		return nil
	}
}
