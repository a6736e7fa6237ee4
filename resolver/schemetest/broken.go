package schemetest

import (
	"testing"
	"time"
)

// checkGarbage has servers that write random bytes, either all or some of them. The result is unspecified, but
// the fetch must end, and its header and listing must be safe to display.
func checkGarbage(t *testing.T, s Suite) {
	limits := generousLimits()
	limits.Timeout = 100 * time.Millisecond // a changed reply may leave both sides waiting
	seeds := uint64(32)
	if testing.Short() {
		seeds = 8
	}
	for _, kind := range []failureKind{failureRandom, failureChanged} {
		for seed := range seeds {
			r := s.start(t, Server{Names: plainNames()}, failingWrites{kind: kind, seed: seed}, limits)
			for which, text := range r.uris() {
				got := r.get(t, text)
				checkHeader(t, which, got)
				if got.listing != nil {
					checkListing(t, got.listing)
				}
			}
			r.close(t)
		}
	}
}

// checkReset has servers that abort connections by RST.
func checkReset(t *testing.T, s Suite) { checkBroken(t, s, failureReset) }

// checkClosed has servers that close connections early by FIN, for protocols where that does not end a body.
func checkClosed(t *testing.T, s Suite) {
	if s.EndsAtClose {
		t.Skip("the protocol ends bodies by closing the connection")
	}
	checkBroken(t, s, failureClose)
}

// checkBroken aborts at many positions: a truncated response must never be taken for a complete one.
func checkBroken(t *testing.T, s Suite, kind failureKind) {
	t.Helper()
	some := int64(96)
	if testing.Short() {
		some = 24
	}
	for which := range s.names() {
		want, address, total := s.plain(t, which)
		for _, after := range positions(total, some) {
			r := s.start(t, Server{Names: plainNames()}, failingWrites{kind: kind, after: after}, generousLimits())
			got := r.get(t, r.uris()[which])
			if got.complete() && !got.equal(r.server.address(), want, address) {
				t.Errorf("%s truncated after %d bytes of %d accepted as complete: %s; want %s", which, after, total,
					got, want)
			}
			r.close(t)
		}
	}
}
