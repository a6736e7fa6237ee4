// Package scheme retrieves: a location becomes a stream of bytes. There is one
// Handler a scheme, each in a package of its own, and a Mux that knows them.
package scheme

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/urnd/urnd/uri"
)

// ErrUnsupported is in the chain of an error for a scheme without handler.
var ErrUnsupported = errors.New("scheme not supported")

// Request asks for one resource.
type Request struct {
	Method        string
	URI           uri.URI // absolute and normal
	Header        http.Header
	Body          io.Reader // nil where there is none
	ContentLength int64     // of Body; -1 where it is not known
}

// Resource is a representation on its way, in the terms of HTTP. Whoever gets
// it closes Body.
type Resource struct {
	Status        int
	Header        http.Header
	Trailer       http.Header // filled when Body ends
	Body          io.ReadCloser
	ContentLength int64 // -1 where it is not known
}

// Handler fetches resources of one scheme. Fetch is safe for concurrent use;
// ctx bounds the stream too. An error means that there is no resource: a
// source that answers with a refusal is a Resource with its status.
type Handler interface {
	Fetch(ctx context.Context, r Request) (*Resource, error)
}

// Mux finds the handler of a scheme. It is fixed once made.
type Mux map[string]Handler

// Fetch implements Handler.
func (m Mux) Fetch(ctx context.Context, r Request) (*Resource, error) {
	handler, ok := m[r.URI.Scheme()]
	if !ok {
		return nil, fmt.Errorf("fetching %q: %w", r.URI.Scheme(), ErrUnsupported)
	}
	return handler.Fetch(ctx, r)
}
