package httpmessage

import (
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
	f := make(Fields, 0, count+room)
	for name, lines := range header {
		for _, line := range lines {
			f.Add(name, line)
		}
	}
	slices.SortStableFunc(f, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return f
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
	for _, one := range f {
		delete(header, one.Canonical())
	}
	for i := range f {
		name := f[i].Canonical()
		if before, ok := header[name]; ok {
			header[name] = append(before, f[i].Value)
			continue
		}
		header[name] = one(&f[i].Value)
	}
}
