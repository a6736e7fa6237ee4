package testserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
)

// All sections are of RFC 2608.
const (
	directoryAgent = "service:directory-agent" // as a service type, section 8.5
	slpAgentHost   = "127.0.0.1"
	// slpBoot is not 0, which says that the agent is going down (section 12.1),
	// and no clock, so that a test can tell an advertisement to the octet.
	slpBoot = 1

	// Error codes, section 7.
	languageNotSupported  = 1
	parseError            = 2
	scopeNotSupported     = 4
	authenticationUnknown = 5
	versionNotSupported   = 9
)

// SLPService is what an agent knows of a service. Its strings have no escapes.
// A service without Scopes is in DEFAULT (section 6), one without Lang in "en".
type SLPService struct {
	URL        string
	Lifetime   uint16
	Type       string // such as "service:urn-resolver:thttp", section 4.1
	Scopes     []string
	Lang       string
	Attributes map[string][]string // a keyword has no values
}

// SLPAgent is a directory agent of the Service Location Protocol, version 2,
// that knows from its start what it knows: it answers SrvRqst and nothing else.
// A reply with an error ends with the code, as section 7 allows.
type SLPAgent struct {
	udp      *net.UDPConn
	tcp      *net.TCPListener
	services []SLPService
	scopes   []string
	running  sync.WaitGroup
	lying    sync.Mutex // apart from mu, so that a lie may ask for Requests

	mu       sync.Mutex
	settings slpSettings
	requests []SLPRequest
}

type slpSettings struct {
	datagram int
	fail     uint16
	mute     bool
	lie      func([]byte) []byte
}

// StartSLP starts an agent on one port of 127.0.0.1, for UDP and TCP. It stops
// at the end of the test.
func StartSLP(t testing.TB, services ...SLPService) *SLPAgent {
	t.Helper()
	a := &SLPAgent{services: slices.Clone(services), settings: slpSettings{datagram: 1400}} // section 6.1
	for i := range a.services {
		s := &a.services[i]
		s.Lang = cmp.Or(s.Lang, "en")
		if len(s.Scopes) == 0 {
			s.Scopes = []string{"DEFAULT"}
		}
		for _, scope := range s.Scopes {
			if !shareSLP(a.scopes, []string{scope}) {
				a.scopes = append(a.scopes, scope)
			}
		}
	}
	if len(a.scopes) == 0 {
		a.scopes = []string{"DEFAULT"} // section 12.4
	}
	if err := a.listen(); err != nil {
		t.Fatalf("start SLP agent: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	a.running.Go(a.serveUDP)
	a.running.Go(func() { a.serveTCP(ctx) })
	t.Cleanup(func() {
		stop() // the connections
		_ = errors.Join(a.udp.Close(), a.tcp.Close())
		a.running.Wait()
	})
	return a
}

func (a *SLPAgent) listen() (err error) {
	const attempts = 16
	for range attempts {
		if a.udp, err = listenLoopback(); err != nil {
			return err
		}
		local := a.udp.LocalAddr().(*net.UDPAddr)
		if a.tcp, err = net.ListenTCP("tcp4", &net.TCPAddr{IP: local.IP, Port: local.Port}); err == nil {
			return nil
		}
		err = errors.Join(err, a.udp.Close())
	}
	return fmt.Errorf("find a port: %w", err)
}

// Addr returns where the agent listens, as "127.0.0.1:port".
func (a *SLPAgent) Addr() string { return a.udp.LocalAddr().String() }

// Requests returns what came in so far, in order, answered or not.
func (a *SLPAgent) Requests() []SLPRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests)
}

// MaxDatagram sets how long replies by UDP may be, 1400 if never called. Longer
// ones go out with the URL entries that fit whole (sections 6.1 and 8.2).
func (a *SLPAgent) MaxDatagram(n int) { a.set(func(s *slpSettings) { s.datagram = n }) }

// Fail makes the agent answer every SrvRqst with an error; 0 ends that.
func (a *SLPAgent) Fail(code uint16) { a.set(func(s *slpSettings) { s.fail = code }) }

// Mute makes the agent take requests and answer none.
func (a *SLPAgent) Mute(mute bool) { a.set(func(s *slpSettings) { s.mute = mute }) }

// Lie makes the agent send what lie makes of each reply, and nothing where that
// is nil. No two calls of lie overlap, but what it shares with the test it must
// guard. A nil lie ends that.
func (a *SLPAgent) Lie(lie func(reply []byte) []byte) { a.set(func(s *slpSettings) { s.lie = lie }) }

func (a *SLPAgent) set(change func(*slpSettings)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.settings)
}

func (a *SLPAgent) serveUDP() {
	buffer := make([]byte, 1<<16)
	for {
		n, from, err := a.udp.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return // the test is over
		}
		if reply := a.handle("udp", bytes.Clone(buffer[:n])); reply != nil {
			_, _ = a.udp.WriteToUDPAddrPort(reply, from) // a lie may be too long to send
		}
	}
}

func (a *SLPAgent) serveTCP(ctx context.Context) {
	for {
		conn, err := a.tcp.Accept()
		if err != nil {
			return // the test is over
		}
		context.AfterFunc(ctx, func() { conn.Close() })
		a.running.Go(func() { converseSLP(conn, a.handle) })
	}
}

// converseSLP answers the requests of one connection, which are framed by the
// length that they have anyway (section 6.2).
func converseSLP(conn net.Conn, handle func(network string, raw []byte) []byte) {
	defer conn.Close()
	for {
		var raw bytes.Buffer // grows as octets come, not as a length promises
		if _, err := io.CopyN(&raw, conn, slpHeaderSize); err != nil {
			return
		}
		// A length that is too short to be true takes no more octets.
		if _, err := io.CopyN(&raw, conn, int64(slpLength(raw.Bytes())-slpHeaderSize)); err != nil {
			return
		}
		if _, err := conn.Write(handle("tcp", raw.Bytes())); err != nil {
			return
		}
	}
}

// handle notes a message, then returns what to send, or nil.
func (a *SLPAgent) handle(network string, raw []byte) []byte {
	r, code := parseSLPRequest(network, raw)
	a.mu.Lock()
	a.requests = append(a.requests, r)
	settings := a.settings
	a.mu.Unlock()
	// Section 6.3: who is in the PRList has answered before.
	heard := shareSLP(strings.Split(r.PRList, ","), []string{slpAgentHost})
	if settings.mute || heard || len(raw) < slpHeaderSize || raw[1] != srvRqst {
		return nil
	}
	reply := a.answer(r, cmp.Or(settings.fail, code), settings.datagram)
	if reply == nil || settings.lie == nil {
		return reply
	}
	a.lying.Lock()
	defer a.lying.Unlock()
	return settings.lie(reply)
}

// answer returns the reply to a request, which has a fault if code is not 0.
func (a *SLPAgent) answer(r SLPRequest, code uint16, datagram int) []byte {
	discovery := foldSLP(r.ServiceType) == directoryAgent
	var entries [][]byte
	if code == 0 {
		entries, code = a.find(r, discovery)
	}
	// Multicast: sections 7, 8.2 and 12.1. Section 8.1 wants no advertisement
	// at all where the predicate asks for attributes that the agent has not.
	if len(entries) == 0 && (r.Flags&slpMulticast != 0 || code == 0 && discovery) {
		return nil
	}
	if r.Network == "tcp" {
		datagram = math.MaxInt
	}
	if discovery {
		return packDAAdvert(r, code, entries, datagram)
	}
	return packSrvRply(r, code, entries, datagram)
}

// find returns the URL entries of the services that match, or the one body of
// an advertisement.
func (a *SLPAgent) find(r SLPRequest, discovery bool) (found [][]byte, code uint16) {
	scopes, inOrder := parseSLPScopes(r.Scopes)
	matches, parses := parseSLPPredicate(r.Predicate)
	switch {
	case r.ServiceType == "" || !inOrder || !parses: // the type is REQUIRED, section 8.1
		return nil, parseError
	case r.SPI != "":
		return nil, authenticationUnknown
	case discovery && r.Scopes == "": // section 11.2
	case !shareSLP(scopes, a.scopes):
		return nil, scopeNotSupported
	}
	if discovery {
		if matches(nil) {
			found = append(found, packDA(a.scopes))
		}
		return found, 0
	}
	services, code := a.spoken(r, scopes)
	for _, s := range services {
		if matches(s.Attributes) {
			found = append(found, packURLEntry(s))
		}
	}
	return found, code
}

// spoken returns the services of the type in the scopes, of which, if there is a
// predicate, only those in the language of the request count (section 8.1).
func (a *SLPAgent) spoken(r SLPRequest, scopes []string) (services []SLPService, code uint16) {
	foreign := false
	for _, s := range a.services {
		switch {
		case !matchSLPType(r.ServiceType, s.Type) || !shareSLP(scopes, s.Scopes):
		case r.Predicate != "" && primarySLPTag(r.Lang) != primarySLPTag(s.Lang):
			foreign = true
		default:
			services = append(services, s)
		}
	}
	if foreign && len(services) == 0 {
		return nil, languageNotSupported
	}
	return services, 0
}

// matchSLPType reports whether a service is of the type that is asked for: that
// very one, or an abstract one that its type is a concrete one of (section 4.1).
func matchSLPType(asked, offered string) bool {
	asked, offered = foldSLP(asked), foldSLP(offered)
	abstract := strings.HasPrefix(asked, "service:") && strings.Count(asked, ":") == 1
	return offered == asked || abstract && strings.HasPrefix(offered, asked+":")
}

// primarySLPTag leaves out the dialect, which does not count (section 8.1).
func primarySLPTag(tag string) string {
	primary, _, _ := strings.Cut(foldSLP(tag), "-")
	return primary
}

// shareSLP reports whether two lists have a string in common.
func shareSLP(some, others []string) bool {
	return slices.ContainsFunc(some, func(s string) bool {
		return slices.ContainsFunc(others, func(o string) bool { return foldSLP(s) == foldSLP(o) })
	})
}
