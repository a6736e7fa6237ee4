// Package schemetest is the suite that every handler of a scheme passes: it plays good, slow, silent, cut
// off, endless and hostile servers to it.
package schemetest

import (
	"cmp"
	"io"
	"net"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// Suite describes a handler to Run.
type Suite struct {
	// New returns the handler, which dials by dial only. Run calls its Close, where it has one.
	New func(t testing.TB, dial scheme.Dial, limits scheme.Limits) scheme.Handler
	// Peer plays the server on one connection until that is closed, or the session has ended. It is called
	// for each connection; nil for a handler without servers. It writes what it has as it goes, and
	// returns at the first error of conn.
	Peer func(conn net.Conn, s *Server)
	// Resource and Listing return the URI of a resource with a body, and of a listing, of the server at an
	// address, "127.0.0.1:1234", which is "" where Peer is nil; nil where there is none.
	Resource, Listing func(address string) string
	// EndsAtClose is whether the end of a connection is the only end that a body of the protocol has.
	EndsAtClose bool
	// Soon bounds what must end immediately; 0 is 10 s, which a busy machine has the time for. A shorter one finds failures sooner.
	Soon time.Duration
}

// Server is what a Peer serves. All its functions are safe for concurrent use.
type Server struct {
	// Body returns the octets of the resource, which may be endless.
	Body func() io.Reader
	// Names are what the listing has; they may be hostile, but have none of the octets that end a name
	// in any protocol: CR, LF, TAB, NUL.
	Names []string
	// Listen opens a socket on loopback, for protocols whose data come by another connection.
	Listen func() (net.Listener, error)
	// Asked may be called with the name that a client asks for, as it is in Names, by a Peer that knows it:
	// links of a listing must then lead to the names that they are for.
	Asked func(name string)
}

// Run runs the suite. It counts goroutines and descriptors, so t must not be a parallel test.
func Run(t *testing.T, s Suite) {
	t.Helper()
	s.Soon = cmp.Or(s.Soon, soon)
	serve(t, nil, Server{}, fault{}).stop(t) // the first socket of a process leaves descriptors of its runtime
	for _, c := range []struct {
		name  string
		peer  bool // it needs servers
		check func(t *testing.T, s Suite)
	}{
		{"whole", false, checkWhole},
		{"canceled before", false, checkCanceledBefore},
		{"concurrent", false, checkConcurrent},
		{"canceled connect", true, checkCanceledConnect},
		{"canceled reply", true, checkCanceledReply},
		{"canceled body", true, checkCanceledBody},
		{"endless listing", true, checkEndlessListing},
		{"endless line", true, checkEndlessLine},
		{"endless body", true, checkEndlessBody},
		{"slow", true, checkSlow},
		{"silence", true, checkSilence},
		{"trickle", true, checkTrickle},
		{"garbage", true, checkGarbage},
		{"reset", true, checkReset},
		{"closed", true, checkClosed},
		{"refused address", true, checkRefusedAddress},
		{"checked addresses", true, checkAddresses},
		{"hostile names", true, checkNames},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.peer && s.Peer == nil {
				t.Skip("there is no server")
			}
			before := count()
			c.check(t, s)
			before.settle(t, s.Soon)
		})
	}
}
