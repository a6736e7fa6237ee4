package forward_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// outcome is a handler whose fetches fail with an error, or succeed if it is nil.
type outcome struct{ err error }

func (o outcome) Fetch(context.Context, scheme.Request) (*scheme.Resource, error) {
	if o.err != nil {
		return nil, o.err
	}
	return new(scheme.Resource), nil
}

// clock is a time set by the test.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func (c *clock) advance(d time.Duration) { c.at = c.at.Add(d) }

// errRefused is the error of a server that refuses connections.
var errRefused = fmt.Errorf("%w: %w", resolver.ErrUnreachable,
	&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)})

// fetch records the outcome of a fetch from a location by a client.
func fetch(t *testing.T, f *forward.Failures, location string, outcome outcome) {
	t.Helper()
	fetchFor(t, f, 1, location, outcome)
}

func fetchFor(t *testing.T, f *forward.Failures, client byte, location string, outcome outcome) {
	t.Helper()
	u, err := uri.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	resource, err := f.Wrap(outcome).Fetch(t.Context(), scheme.Request{
		Request: httpmessage.Request{Method: "GET", URI: u},
		Client:  netip.AddrFrom4([4]byte{192, 0, 2, client}),
	})
	if !errors.Is(err, outcome.err) || (resource == nil) != (outcome.err != nil) {
		t.Fatalf("%v becomes %v, %v", outcome.err, resource, err)
	}
}

func TestFailuresByError(t *testing.T) {
	for _, tt := range []struct {
		err     error
		failing bool
	}{
		{nil, false},
		{resolver.ErrUnreachable, true},
		{context.DeadlineExceeded, true},
		{fmt.Errorf("%w: dialling: %w", resolver.ErrUnreachable, context.DeadlineExceeded), true},
		{errRefused, true},
		{fmt.Errorf("%w: %w", context.DeadlineExceeded, netguard.ErrConnectTimeout), true},
		// A disconnect of the client and a denial by urnd are not failures of the server.
		{context.Canceled, false},
		{fmt.Errorf("%w: dialling: %w", resolver.ErrUnreachable, context.Canceled), false},
		{netguard.ErrForbidden, false},
		{scheme.ErrUnsupported, false},
		{fmt.Errorf("%w: malformed chunked encoding", scheme.ErrRequestBody), false},
		{errors.New("a bug"), false},
		// A server that sends an error of its own protocol has answered.
		{scheme.UpstreamError(http.StatusBadGateway, "430 TLS required"), false},
		{fmt.Errorf("listing: %w", scheme.UpstreamError(http.StatusServiceUnavailable, "450 File busy")), false},
		{scheme.UpstreamError(http.StatusGatewayTimeout, "Target timed out"), false},
	} {
		c := &clock{at: time.Unix(0, 0)}
		f := forward.NewFailures(c.now)
		fetch(t, f, "http://a.example/b", outcome{tt.err})
		if alone := errors.Is(tt.err, syscall.ECONNREFUSED) ||
			errors.Is(tt.err, netguard.ErrConnectTimeout); f.Failing("http://a.example/") != alone {
			t.Errorf("%v of one client: %t", tt.err, !alone)
		}
		fetchFor(t, f, 2, "http://a.example/b", outcome{tt.err})
		if got := f.Failing("http://a.example/"); got != tt.failing {
			t.Errorf("%v: %t", tt.err, got)
		}
	}
}

// A failure applies to a server, identified by scheme and authority.
func TestFailuresByServer(t *testing.T) {
	f := forward.NewFailures((&clock{at: time.Unix(0, 0)}).now)
	fetch(t, f, "HTTP://A.example:80/b?c", outcome{errRefused})
	fetch(t, f, "mailto:a@a.example", outcome{errRefused}) // it has no server
	for location, want := range map[string]bool{
		"http://a.example/": true, "http://a.example:80/other": true, "hTTp://A.EXAMPLE": true,
		"https://a.example/": false, "http://a.example:81/": false,
		"http://b.example/": false, "mailto:a@a.example": false, "urn:a1:b": false, "no URI": false, "": false,
	} {
		if got := f.Failing(location); got != want {
			t.Errorf("%q: %t", location, got)
		}
	}
}

// A failure expires after 30 seconds, or when the server answers.
func TestFailuresEnd(t *testing.T) {
	const location = "http://a.example/"
	c := &clock{at: time.Unix(0, 0)}
	f := forward.NewFailures(c.now)
	for _, tt := range []struct {
		name    string
		passes  time.Duration
		outcome *outcome
		failing bool
	}{
		{"a failure", 0, &outcome{errRefused}, true},
		{"just before its end", 30*time.Second - 1, nil, true},
		{"its end", 1, nil, false},
		{"another failure", 0, &outcome{errRefused}, true},
		{"a client that left", 20 * time.Second, &outcome{context.Canceled}, true},
		{"a failure again", 0, &outcome{errRefused}, true},
		{"30 seconds from the last one count", 20 * time.Second, nil, true},
		{"an answer", 0, &outcome{}, false},
	} {
		c.advance(tt.passes)
		if tt.outcome != nil {
			fetch(t, f, location, *tt.outcome)
		}
		if got := f.Failing(location); got != tt.failing {
			t.Errorf("%s: %t", tt.name, got)
		}
		if all := f.Avoided(); tt.failing != (len(all) == 1 && all[0].Server == "http://a.example" &&
			all[0].Until.After(c.now())) {
			t.Errorf("%s: it avoids %+v", tt.name, all)
		}
	}
}

// At most 4096 servers are recorded; expired ones make room.
func TestFailuresAreBounded(t *testing.T) {
	const bound = 4096
	server := func(i int) string { return fmt.Sprintf("http://s%d.example/", i) }
	c := &clock{at: time.Unix(0, 0)}
	f := forward.NewFailures(c.now)
	failing := func(n int) (count int) {
		for i := range n {
			if f.Failing(server(i)) {
				count++
			}
		}
		return count
	}
	for i := range bound + 10 {
		fetch(t, f, server(i), outcome{errRefused})
	}
	if got := failing(bound + 10); got != bound {
		t.Errorf("%d are remembered", got)
	}
	c.advance(30 * time.Second)
	const late = "http://late.example/"
	fetch(t, f, late, outcome{errRefused})
	if got := failing(bound); got != 0 || !f.Failing(late) {
		t.Errorf("%d are remembered for ever, and the last one: %t", got, f.Failing(late))
	}
}

// A failure under a rule that restricts the addresses for a client does not mark the server for others.
func TestFailuresBehindARule(t *testing.T) {
	const location = "http://a.example/"
	f := forward.NewFailures((&clock{at: time.Unix(0, 0)}).now)
	u, err := uri.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	for client := byte(1); client < 3; client++ {
		if f.Failing(location) {
			t.Fatal("what one client is left does not answer")
		}
		r := scheme.Request{
			Request: httpmessage.Request{Method: "GET", URI: u}, Client: netip.AddrFrom4([4]byte{192, 0, 2, client}),
			Check: func(netip.AddrPort) error { return nil },
		}
		_, _ = f.Wrap(outcome{errRefused}).Fetch(t.Context(), r)
	}
	if !f.Failing(location) {
		t.Error("what two clients are left does not answer")
	}
}

// One client that sees a server refuse connections, and later close them, does not count as two.
func TestFailuresOfOneClientInTwoWays(t *testing.T) {
	const location = "http://a.example/"
	c := &clock{at: time.Unix(0, 0)}
	f := forward.NewFailures(c.now)
	fetch(t, f, location, outcome{errRefused})
	c.advance(20 * time.Second)
	fetch(t, f, location, outcome{resolver.ErrUnreachable})
	c.advance(10 * time.Second)
	if f.Failing(location) {
		t.Error("one client prolongs what it has seen")
	}
}

// One client with many failing names leaves room for failures seen by others.
func TestFailuresOfOneClientLeaveRoom(t *testing.T) {
	const bound, first, late = 4096, "http://first.example/", "http://late.example/"
	c := &clock{at: time.Unix(0, 0)}
	f := forward.NewFailures(c.now)
	fetch(t, f, first, outcome{errRefused})
	for i := range bound + 10 {
		c.advance(time.Microsecond)
		fetchFor(t, f, 1, fmt.Sprintf("http://s%d.example/", i), outcome{resolver.ErrUnreachable})
	}
	for client := byte(2); client < 4; client++ {
		fetchFor(t, f, client, late, outcome{resolver.ErrUnreachable})
	}
	if !f.Failing(first) || !f.Failing(late) {
		t.Errorf("forgotten: the first one %t, the late one %t", !f.Failing(first), !f.Failing(late))
	}
}
