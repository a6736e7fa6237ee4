package httpmessage

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// FromHeader returns the fields of a net/http header, sorted by name, since net/http does not preserve order
// and spelling. Values are not copied. A name without values is omitted.
func FromHeader(header http.Header) Fields {
	count := 0
	for _, lines := range header {
		count += len(lines)
	}
	f := make(Fields, 0, count)
	for name, lines := range header {
		for _, line := range lines {
			f.Add(name, line)
		}
	}
	slices.SortStableFunc(f, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return f
}

// NewHeader returns a lookup in a net/http header. A nil header is empty.
func NewHeader(header http.Header) Header {
	return func(name string) []string { return header[name] }
}

// Header returns the fields as a net/http header. It may share memory with f: neither may be modified.
func (f Fields) Header() http.Header {
	header := make(http.Header, len(f))
	f.CopyTo(header)
	return header
}

// CopyTo sets the fields in a net/http header and replaces fields of the same names. The header may share
// memory with f: neither may be modified, except for appending values.
func (f Fields) CopyTo(header http.Header) {
	for _, field := range f {
		delete(header, field.Canonical())
	}
	for i := range f {
		name := f[i].Canonical()
		if lines := header[name]; lines != nil {
			header[name] = append(lines, f[i].Value)
		} else {
			header[name] = one(&f[i].Value) // without allocating
		}
	}
}

// Announced returns a net/http trailer with the announced names. The trailer fields are copied to it at the end
// of the body.
func (t *Trailer) Announced() http.Header {
	header := make(http.Header, len(t.Names))
	for _, name := range t.Names {
		header[name] = nil
	}
	return header
}

// FromRequest converts a net/http request including its body and trailer, but without the target.
func FromRequest(r *http.Request) Request {
	message := Request{Method: r.Method, Fields: FromHeader(r.Header), ContentLength: r.ContentLength}
	if r.Body == nil || r.Body == http.NoBody {
		return message
	}
	message.Body = r.Body
	if len(r.Trailer) > 0 {
		trailer := &Trailer{Names: slices.Sorted(maps.Keys(r.Trailer))}
		message.Body = AtEnd(r.Body, func() { trailer.Fields = FromHeader(r.Trailer) })
		message.Trailer = trailer
	}
	return message
}

// AtEnd returns a body that calls ended at its end, before Read returns io.EOF.
func AtEnd(body io.ReadCloser, ended func()) io.ReadCloser { return &endingBody{body, ended} }

type endingBody struct {
	io.ReadCloser
	ended func()
}

// Read implements io.Reader.
func (b *endingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.ended()
	}
	return n, err
}
