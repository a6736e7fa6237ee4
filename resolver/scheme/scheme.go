// Package scheme retrieves: it opens a location as a stream of bytes. Each scheme has a
// Handler in a package of its own; a Mux selects it.
package scheme

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/urnd/urnd/uri"
)

// ErrUnsupported is wrapped by the error for a scheme without a handler.
var ErrUnsupported = errors.New("scheme not supported")

// ErrBody means that the body of a request could not be read, which is no failure of the origin.
var ErrBody = errors.New("the body of the request could not be read")

// Request is the request of one resource.
type Request struct {
	Method        string
	URI           uri.URI // absolute and normal
	Header        http.Header
	Body          io.Reader // may be nil
	ContentLength int64     // of Body; -1 if unknown
}

// Resource is the representation of a resource as a stream, in the terms of HTTP. The
// caller must close Body.
type Resource struct {
	Status        int
	Header        http.Header
	Trailer       http.Header // complete at the end of Body
	Body          io.ReadCloser
	ContentLength int64 // -1 if unknown
}

// Handler fetches resources of one scheme. Fetch is safe for concurrent use;
// ctx also ends the stream of Body. An error means that there was no response: an error
// response of the origin is a Resource with its status.
type Handler interface {
	Fetch(ctx context.Context, r Request) (*Resource, error)
}

// Mux has the handlers by scheme, in lower case. It must not be changed while in use.
type Mux map[string]Handler

// Fetch implements Handler.
func (m Mux) Fetch(ctx context.Context, r Request) (*Resource, error) {
	handler, ok := m[r.URI.Scheme()]
	if !ok {
		return nil, fmt.Errorf("fetching %q: %w", r.URI.Scheme(), ErrUnsupported)
	}
	return handler.Fetch(ctx, r)
}
