package schemetest

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
)

// checkComplete checks complete responses of a correct server.
func checkComplete(t *testing.T, s Suite) {
	for _, size := range []int{0, 1, smallBody, 100 << 10} {
		want := byteSequence(size)
		r := s.start(t, Server{Names: plainNames(), Body: func() io.Reader { return bytes.NewReader(want) }},
			failingWrites{},
			generousLimits())
		for _, which := range slices.Sorted(maps.Keys(r.uris())) {
			text := r.uris()[which]
			got := r.get(t, text)
			checkHeader(t, text, got)
			switch {
			case got.err != nil:
				t.Errorf("the %s, %d bytes: %v", which, size, got.err)
			case s.Peer == nil:
			case !got.complete():
				t.Errorf("the %s, %d bytes: %s", which, size, got)
			case which == "listing":
				checkPlainNames(t, got.listing)
			case !bytes.Equal(got.body, want):
				t.Errorf("resource differs from the served one, %d bytes: %s", size, got)
			case got.length != -1 && got.length != int64(size):
				t.Errorf("ContentLength of %d bytes: %d", size, got.length)
			}
			checkHead(t, r, text, got)
		}
		r.close(t)
		if s.Peer == nil {
			return // the handler has its own content, independent of size
		}
	}
}

// checkPlainNames requires that a listing has all names, each in an item.
func checkPlainNames(t *testing.T, l *scheme.Listing) {
	t.Helper()
	if l == nil {
		t.Errorf("no Listing")
		return
	}
	checkListing(t, l)
	for _, name := range plainNames() {
		if !slices.ContainsFunc(l.Items, func(i scheme.Item) bool { return strings.Contains(i.Name, name) }) {
			t.Errorf("listing without %q: %+v", name, l.Items)
		}
	}
}

// checkHead requires that HEAD has no body, and the length of GET if its length is known.
func checkHead(t *testing.T, r *fixture, text string, got outcome) {
	t.Helper()
	head := within(t, "HEAD "+text, func() outcome { return r.fetch(t.Context(), request(t, http.MethodHead, text)) })
	switch {
	case head.err != nil:
		t.Errorf("HEAD %s: %v", text, head.err)
	case len(head.body) != 0:
		t.Errorf("HEAD %s has a body: %s", text, head)
	case head.status != got.status:
		t.Errorf("HEAD %s is %d, GET %d", text, head.status, got.status)
	case head.length > 0 && head.listing == nil && head.length != int64(len(got.body)):
		t.Errorf("the ContentLength of HEAD %s is %d, the body has %d bytes", text, head.length, len(got.body))
	}
}

// checkConcurrent fetches concurrently.
func checkConcurrent(t *testing.T, s Suite) {
	const clients, rounds = 16, 4
	r := s.start(t, Server{Names: plainNames()}, failingWrites{}, generousLimits())
	defer r.close(t)
	for which, text := range r.uris() {
		want := r.get(t, text)
		if want.err != nil {
			t.Fatalf("the %s: %v", which, want.err)
		}
		var running sync.WaitGroup
		for range clients {
			running.Go(func() {
				for range rounds {
					q := request(t, http.MethodGet, text)
					if got := r.fetch(t.Context(), q); got.err != nil || !got.equal("", want, "") {
						t.Errorf("%s by one of %d clients: %s; want %s", which, clients, got, want)
					}
				}
			})
		}
		within(t, "fetching the "+which+" concurrently", func() bool { running.Wait(); return true })
	}
}
