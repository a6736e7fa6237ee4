// Package schemetest is the conformance suite for handlers of package scheme. A Suite enters, with a handler
// and a Peer that implements its protocol; test failures leave. The suite serves correct, slow, silent,
// truncated, endless and hostile responses, and checks limits, cancellation, address checks and leaks of
// goroutines and descriptors.
package schemetest

import (
	"cmp"
	"io"
	"net"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// Suite describes a handler for Run.
type Suite struct {
	// New returns the handler, which must dial only by dial. Run calls its Close method, if it has one.
	New func(t testing.TB, dial scheme.Dial, limits scheme.Limits) scheme.Handler
	// Peer implements the server on one connection, until that is closed or the session has ended. It is called
	// for each connection; nil for a handler without servers. It must write as it goes, and return at the first
	// error of conn.
	Peer func(conn net.Conn, s *Server)
	// Resource and Listing return the URI of a resource with a body, and of a listing, at a server address such
	// as "127.0.0.1:1234", which is "" if Peer is nil. They are nil if the handler has none.
	Resource, Listing func(address string) string
	// EndsAtClose is true if only the end of the connection ends a body.
	EndsAtClose bool
	// PromptTimeout is the timeout of operations that must end immediately; 0 is 10 s, enough for a busy machine. A
	// shorter one finds failures sooner.
	PromptTimeout time.Duration
}

// Server is the content that a Peer serves. All its functions are safe for concurrent use.
type Server struct {
	// Body returns the bytes of the resource, which may be endless.
	Body func() io.Reader
	// Names are the names in the listing. They may be hostile, but have none of the bytes that end a name in
	// every protocol: CR, LF, TAB, NUL.
	Names []string
	// Listen opens a socket on loopback, for protocols whose data come by another connection.
	Listen func() (net.Listener, error)
	// Requested may be called by a Peer with the name that a client requests, spelled as in Names: links of a
	// listing must then request the names that they stand for.
	Requested func(name string)
}

// Run runs the suite. It counts goroutines and descriptors, so t must not be a parallel test.
func Run(t *testing.T, s Suite) {
	t.Helper()
	s.PromptTimeout = cmp.Or(s.PromptTimeout, promptTimeout)
	serve(t, nil, Server{}, failingWrites{}).stop(t) // the first socket of a process leaves descriptors of the runtime
	for _, c := range []struct {
		name  string
		peer  bool // the check needs a Peer
		check func(t *testing.T, s Suite)
	}{
		{"whole", false, checkComplete},
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
				t.Skip("no server")
			}
			before := count()
			c.check(t, s)
			before.settle(t, s.PromptTimeout)
		})
	}
}
