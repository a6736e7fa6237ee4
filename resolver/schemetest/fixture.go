package schemetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// smallBody is the size of a body in bytes if the size does not matter.
const smallBody = 200

// byteSequence returns n bytes, with all byte values if n is large enough.
func byteSequence(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i + i>>8)
	}
	return b
}

// generousLimits returns limits that no check reaches.
func generousLimits() scheme.Limits {
	return scheme.Limits{Timeout: time.Hour, Entries: 10_000, Bytes: 8 << 20, Line: 64 << 10}
}

// plainNames returns harmless names for a listing.
func plainNames() []string { return []string{"alpha", "beta", "gamma"} }

// fixture is a handler under test, with its server if it has one.
type fixture struct {
	suite   Suite
	server  *server // nil if Peer is nil
	dialer  *dialer
	handler scheme.Handler
}

// start starts a rig, which the caller must close.
func (s Suite) start(t testing.TB, served Server, f failingWrites, limits scheme.Limits) *fixture {
	t.Helper()
	return s.startIdle(t, served, f, limits, limits.Timeout)
}

// startIdle is start with another idle timeout of connections.
func (s Suite) startIdle(
	t testing.TB, served Server, f failingWrites, limits scheme.Limits, idle time.Duration,
) *fixture {
	t.Helper()
	r := &fixture{suite: s, dialer: newDialer(idle)}
	if s.Peer != nil {
		r.server = serve(t, s.Peer, served, f)
	}
	r.handler = s.New(t, r.dialer.dial, limits)
	return r
}

// close closes the handler, which must then have closed all its connections. If not, the check fails
// immediately: waiting for the next connections would take as long for each.
func (r *fixture) close(t testing.TB) {
	t.Helper()
	switch closer := r.handler.(type) {
	case io.Closer:
		_ = closer.Close() // the result is checked below
	case interface{ Close() }:
		closer.Close()
	}
	left := 0
	if !eventually(r.suite.PromptTimeout, func() bool { return r.dialer.left() == 0 }) {
		left = r.dialer.left()
		r.dialer.closeAll()
	}
	if r.server != nil {
		r.server.stop(t)
	}
	if left > 0 {
		t.Fatalf("%d connections left open by the handler", left)
	}
}

// uris returns the URIs of the suite by kind: "resource", "listing".
func (r *fixture) uris() map[string]string {
	address := ""
	if r.server != nil {
		address = r.server.address()
	}
	uris := make(map[string]string)
	if r.suite.Resource != nil {
		uris["resource"] = r.suite.Resource(address)
	}
	if r.suite.Listing != nil {
		uris["listing"] = r.suite.Listing(address)
	}
	return uris
}

// request returns a request for a URI.
func request(t testing.TB, method, text string) scheme.Request {
	t.Helper()
	u, err := uri.Parse(text)
	if err != nil {
		t.Fatalf("test URI %q: %v", text, err)
	}
	return scheme.Request{
		Request: httpmessage.Request{Method: method, URI: u, Fields: httpmessage.Fields{}},
		Check:   func(netip.AddrPort) error { return nil },
	}
}

// outcome is the result of a request.
type outcome struct {
	status  int
	header  httpmessage.Fields
	length  int64
	body    []byte
	listing *scheme.Listing
	err     error // error of Fetch, or of reading the body
}

// fetch fetches a resource and reads it completely.
func (r *fixture) fetch(ctx context.Context, q scheme.Request) outcome {
	resource, err := r.handler.Fetch(ctx, q)
	if err != nil {
		return outcome{err: err}
	}
	if resource.Body == nil {
		return outcome{err: errors.New("nil Body of a Resource")}
	}
	body, err := io.ReadAll(resource.Body)
	if closed := resource.Body.Close(); err == nil && closed != nil {
		err = fmt.Errorf("closing the body: %w", closed)
	}
	return outcome{resource.Status, resource.Fields, resource.ContentLength, body, resource.Listing, err}
}

// get fetches a URI by GET, and fails the test if that does not end.
func (r *fixture) get(t testing.TB, text string) outcome {
	t.Helper()
	return within(t, "fetching "+text, func() outcome { return r.fetch(t.Context(), request(t, http.MethodGet, text)) })
}

// complete reports whether an outcome claims to be the complete resource.
func (o outcome) complete() bool {
	return o.err == nil && o.status == http.StatusOK && (o.listing == nil || o.listing.Incomplete == "")
}

// equal reports whether two outcomes, of servers at two addresses, are the same resource.
func (o outcome) equal(address string, other outcome, otherAddress string) bool {
	return o.status == other.status && bytes.Equal(o.body, other.body) &&
		o.describe(address) == other.describe(otherAddress)
}

// describe returns the listing as JSON, with a placeholder for the address.
func (o outcome) describe(address string) string {
	text, err := json.Marshal(o.listing)
	if err != nil {
		return err.Error()
	}
	if address == "" {
		return string(text)
	}
	return strings.ReplaceAll(string(text), address, "ADDRESS")
}

// String describes an outcome for messages.
func (o outcome) String() string {
	if o.err != nil {
		return "error: " + o.err.Error()
	}
	const most = 300
	text := o.describe("")
	return fmt.Sprintf("%d, %d bytes %.60q, listing %.*s", o.status, len(o.body), o.body, min(most, len(text)), text)
}

// within returns the result of f, and fails the test if f does not end.
func within[T any](t testing.TB, what string, f func() T) T {
	t.Helper()
	return endsIn(t, hangTimeout, what, f)
}

func endsIn[T any](t testing.TB, limit time.Duration, what string, f func() T) T {
	t.Helper()
	done := make(chan T, 1)
	go func() {
		defer func() {
			if failure := recover(); failure != nil {
				panic(failure) //nolint:forbidigo // the panic of the handler; close would end the test before it is shown
			}
			close(done) // without a result if f fails the test
		}()
		done <- f()
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var result T
	select {
	case got, ok := <-done:
		if !ok {
			t.FailNow()
		}
		result = got
	case <-timer.C:
		t.Fatalf("%s does not return", what)
	}
	return result
}

// plain returns the outcome of a URI of the suite at a correct server, that server's address, and the number of
// bytes that it writes.
func (s Suite) plain(t testing.TB, which string) (o outcome, address string, total int64) {
	t.Helper()
	r := s.start(t, Server{Names: plainNames()}, failingWrites{}, generousLimits())
	defer r.close(t)
	o = r.get(t, r.uris()[which])
	if !o.complete() {
		t.Fatalf("%s of a working server: %s", which, o)
	}
	return o, r.server.address(), r.server.total()
}
