package schemetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
)

// slack is the number of bytes that may be read above a limit: a buffer or two.
const slack = 256 << 10

// checkEndlessListing lists more than the limits allow.
func checkEndlessListing(t *testing.T, s Suite) {
	if s.Listing == nil {
		t.Skip("no listing")
	}
	names := make([]string, 50_000)
	for i := range names {
		names[i] = fmt.Sprintf("name-%032d", i)
	}
	for _, c := range []struct {
		name    string
		entries int
		bytes   int64
		isCut   bool // an error is acceptable: a response of a single message cannot be truncated
	}{
		{"entries", 100, 8 << 20, false},
		{"bytes", 1 << 20, 64 << 10, true},
	} {
		limits := generousLimits()
		limits.Entries, limits.Bytes = c.entries, c.bytes
		r := s.start(t, Server{Names: names}, failingWrites{}, limits)
		got := r.get(t, r.uris()["listing"])
		switch l := got.listing; {
		case got.err != nil && c.isCut && errors.Is(got.err, scheme.ErrInvalidResponse):
		case got.err != nil:
			t.Errorf("%s: no listing within the limit: %v", c.name, got.err)
		case l == nil:
			t.Errorf("%s: no Listing: %s", c.name, got)
		case len(l.Items) > c.entries:
			t.Errorf("%s: %d items, the limit is %d", c.name, len(l.Items), c.entries)
		case l.Incomplete == "" && l.Next == nil && l.Previous == nil:
			t.Errorf("%s: listing of %d names truncated after %d items, not marked incomplete", c.name, len(names),
				len(l.Items))
		}
		if read := r.dialer.bytesRead(); read > c.bytes+slack {
			t.Errorf("%s: %d bytes read, limit %d", c.name, read, c.bytes)
		}
		r.close(t)
	}
}

// checkEndlessLine has lines without end in replies, listings and bodies.
func checkEndlessLine(t *testing.T, s Suite) {
	limits := generousLimits()
	limits.Bytes, limits.Line = 64<<10, 4<<10
	for which := range s.names() {
		want, address, total := s.plain(t, which)
		for _, after := range positions(total, 16) {
			r := s.start(t, Server{Names: plainNames()}, failingWrites{kind: failureEndless, after: after}, limits)
			q := request(t, http.MethodGet, r.uris()[which])
			within(t, fmt.Sprintf("%s with an endless line after %d bytes of %d", which, after, total), func() bool {
				resource, err := r.handler.Fetch(t.Context(), q)
				if read := r.dialer.bytesRead(); read > limits.Bytes+slack {
					t.Errorf("%s: %d bytes read for a line, limit %d", which, read, limits.Bytes)
				}
				if err != nil {
					return false
				}
				body, err := io.ReadAll(io.LimitReader(resource.Body, 1<<20))
				got := outcome{resource.Status, resource.Fields, resource.ContentLength, body, resource.Listing, err}
				if len(body) < 1<<20 && got.complete() && !got.equal(r.server.address(), want, address) {
					t.Errorf("%s with an endless line after %d bytes of %d accepted as complete: %s", which, after,
						total, got)
				}
				_ = resource.Body.Close()
				return true
			})
			r.close(t)
		}
	}
}

// checkEndlessBody reads much of a body without end, which must not accumulate in memory.
func checkEndlessBody(t *testing.T, s Suite) {
	if s.Resource == nil {
		t.Skip("no resource")
	}
	much, most := int64(64<<20), int64(16<<20)
	if testing.Short() {
		much = 32 << 20
	}
	r := s.start(t, Server{Names: plainNames(), Body: func() io.Reader { return endless{} }}, failingWrites{},
		generousLimits())
	defer r.close(t)
	before := heap()
	q := request(t, http.MethodGet, r.uris()["resource"])
	resource := within(t, "fetching an endless body", func() *scheme.Resource {
		resource, err := r.handler.Fetch(t.Context(), q)
		if err != nil {
			t.Logf("read at once: %v", err)
		}
		return resource
	})
	grown := heap() - before
	if resource != nil {
		defer resource.Body.Close()
		n := int64(0)
		for piece := int64(1 << 20); n < much; n += piece { // each piece has its own timeout, for a busy machine
			piece = within(t, "reading an endless body", func() int64 {
				read, err := io.CopyN(io.Discard, resource.Body, piece)
				if err == io.EOF { //nolint:errorlint // a body returns io.EOF unwrapped
					t.Errorf("endless body ended after %d bytes", n+read)
				}
				return read
			})
			if piece < 1<<20 {
				break
			}
		}
		t.Logf("%d bytes read", n)
	}
	if grown = max(grown, heap()-before); grown > most {
		t.Errorf("heap grown by %d MiB", grown>>20)
	}
}

// endless is a body that repeats a line forever.
type endless struct{}

// Read implements io.Reader.
func (endless) Read(p []byte) (int, error) {
	const line = "a line of an endless body\r\n"
	if len(p) < len(line) {
		return copy(p, bytes.Repeat([]byte{'\n'}, len(p))), nil
	}
	n := 0
	for len(p)-n >= len(line) {
		n += copy(p[n:], line)
	}
	return n, nil
}
