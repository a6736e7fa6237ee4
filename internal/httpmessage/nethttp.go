package httpmessage

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// FromHeader returns the fields of a header of net/http, which has lost their order and spelling: by name. Their values are not
// copied. A name without lines is none.
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

// LinesOf returns the lines of a header of net/http. nil has none.
func LinesOf(header http.Header) Lines {
	return func(name string) []string { return header[name] }
}

// Header returns the fields as net/http has them, in memory that may be shared: neither lines nor fields may be changed.
func (f Fields) Header() http.Header {
	header := make(http.Header, len(f))
	f.CopyTo(header)
	return header
}

// CopyTo sets the fields in a header of net/http, in place of those with their names. Its lines may be the memory of the fields:
// neither may be changed, but for lines that are appended.
func (f Fields) CopyTo(header http.Header) {
	for _, field := range f {
		delete(header, field.Canonical())
	}
	for i := range f {
		name := f[i].Canonical()
		if lines := header[name]; lines != nil {
			header[name] = append(lines, f[i].Value)
		} else {
			header[name] = one(&f[i].Value) // which takes no memory
		}
	}
}

// Announced returns the names that are known before the body as net/http has them, to which the fields are copied at its end.
func (t *Trailer) Announced() http.Header {
	header := make(http.Header, len(t.Names))
	for _, name := range t.Names {
		header[name] = nil
	}
	return header
}

// FromRequest returns a request of net/http, with its body and its trailer where it has them, and without a target.
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

// AtEnd returns a body that calls a function at its end, before its reader knows.
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
