package schemetest

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"
)

// checkSlow has a server that writes, and a client that reads, a byte at a time.
func checkSlow(t *testing.T, s Suite) {
	for which := range s.names() {
		want, address, _ := s.plain(t, which)
		r := s.start(t, Server{Names: plainNames()}, failingWrites{kind: failureBytes}, generousLimits())
		r.dialer.oneByte = true
		if got := r.get(t, r.uris()[which]); !got.complete() || !got.equal(r.server.address(), want, address) {
			t.Errorf("%s byte by byte: %s; want %s", which, got, want)
		}
		r.close(t)
	}
}

// checkSilence has servers that stop writing, immediately or later.
func checkSilence(t *testing.T, s Suite) {
	limits := generousLimits()
	limits.Timeout = 100 * time.Millisecond
	for which := range s.names() {
		want, address, total := s.plain(t, which)
		for _, after := range positions(total, 8) {
			r := s.start(t, Server{Names: plainNames()}, failingWrites{kind: failureSilent, after: after}, limits)
			got := r.get(t, r.uris()[which])
			switch {
			case got.err != nil && !isTimeout(got.err):
				t.Errorf("%s stalled after %d bytes of %d: not a timeout: %v", which, after, total, got.err)
			case got.complete() && !got.equal(r.server.address(), want, address):
				t.Errorf("%s stalled after %d bytes of %d accepted as complete: %s", which, after, total, got)
			}
			r.close(t)
		}
	}
}

// checkTrickle has a server that is never silent for long, but would exceed the total timeout of a listing.
func checkTrickle(t *testing.T, s Suite) {
	if s.Listing == nil {
		t.Skip("no listing")
	}
	limits := generousLimits()
	limits.Timeout = 20 * trickleDelay
	names := make([]string, 30)
	for i := range names {
		names[i] = plainNames()[i%len(plainNames())]
	}
	r := s.startIdle(t, Server{Names: names}, failingWrites{kind: failureTrickle}, limits, time.Hour)
	defer r.close(t)
	switch got := r.get(t, r.uris()["listing"]); {
	case got.err != nil && !isTimeout(got.err):
		t.Errorf("not a timeout: %v", got.err)
	case got.complete():
		t.Errorf("slow listing accepted as complete: %s", got)
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
