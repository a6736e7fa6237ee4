package forward_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Failures of requests of one client do not mark a server, however many they are.
func TestOneClientMarksNoServer(t *testing.T) {
	const location = "http://a.example/"
	c := &clock{at: time.Unix(0, 0)}
	f := forward.NewFailures(c.now)
	for range 100 {
		fetch(t, f, location, outcome{resolver.ErrUnreachable})
		fetch(t, f, location, outcome{context.DeadlineExceeded})
		c.advance(time.Second)
	}
	if f.Failing(location) {
		t.Error("one client has marked it")
	}
	fetchFor(t, f, 2, location, outcome{})
	fetchFor(t, f, 2, location, outcome{resolver.ErrUnreachable})
	if f.Failing(location) {
		t.Error("a failure before an answer counts")
	}
	c.advance(30 * time.Second)
	fetchFor(t, f, 3, location, outcome{resolver.ErrUnreachable})
	if f.Failing(location) {
		t.Error("a failure of 30 seconds ago counts")
	}
	fetchFor(t, f, 4, location, outcome{resolver.ErrUnreachable})
	if !f.Failing(location) {
		t.Error("two clients mark it")
	}
}

// waiting is a handler whose fetches end when the test says so.
type waiting struct {
	started chan struct{}
	end     chan error
}

func (w waiting) Fetch(context.Context, scheme.Request) (*scheme.Resource, error) {
	w.started <- struct{}{}
	if err := <-w.end; err != nil {
		return nil, err
	}
	return new(scheme.Resource), nil
}

// A late failure of a request does not mark a server that has answered others meanwhile, whichever client's
// request fails.
func TestServerThatAnswersOthers(t *testing.T) {
	const location = "http://a.example/"
	c := &clock{at: time.Unix(0, 0)}
	f := forward.NewFailures(c.now)
	u, err := uri.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	w := waiting{make(chan struct{}), make(chan error)}
	done := make(chan error)
	for client := range byte(5) {
		go func() {
			_, err := f.Wrap(w).Fetch(t.Context(),
				scheme.Request{Request: httpmessage.Request{Method: "GET", URI: u}, Client: netip.AddrFrom4([4]byte{
					198,
					51, 100, client,
				})})
			done <- err
		}()
		<-w.started
	}
	c.advance(10 * time.Second)
	fetch(t, f, location, outcome{})
	c.advance(10 * time.Second)
	for range 5 {
		w.end <- resolver.ErrUnreachable
		if err := <-done; !errors.Is(err, resolver.ErrUnreachable) {
			t.Fatal(err)
		}
	}
	if f.Failing(location) {
		t.Error("it is marked")
	}
}

// A refused connection marks the server alone only if no request was sent before: an FTP server gets commands
// before data connections.
func TestRefusedConnections(t *testing.T) {
	for location, want := range map[string]bool{
		"http://a.example/": true, "https://a.example/": true,
		"ftp://a.example/": false,
	} {
		f := forward.NewFailures((&clock{at: time.Unix(0, 0)}).now)
		fetch(t, f, location, outcome{errRefused})
		if got := f.Failing(location); got != want {
			t.Errorf("%s: %t", location, got)
		}
	}
}
