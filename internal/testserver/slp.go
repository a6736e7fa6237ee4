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
	// slpBoot is not 0, which means that the agent is going down (section 12.1), and constant, so that a test
	// can expect every byte of an advertisement.
	slpBoot = 1

	// Error codes, section 7.
	languageNotSupported  = 1
	parseError            = 2
	scopeNotSupported     = 4
	authenticationUnknown = 5
	versionNotSupported   = 9
)

// SLPService is a service that an agent advertises. Its strings have no escapes.
// A service without Scopes is in DEFAULT (section 6), one without Lang in "en".
type SLPService struct {
	URL        string
	Lifetime   uint16
	Type       string // such as "service:urn-resolver:thttp", section 4.1
	Scopes     []string
	Lang       string
	Attributes map[string][]string // nil for a keyword
}

// SLPAgent is a directory agent of the Service Location Protocol, version 2, with a fixed list of services: it
// only responds to SrvRqst. A response with an error ends with the code, as section 7 permits. It is safe for
// concurrent use.
type SLPAgent struct {
	udp      *net.UDPConn
	tcp      *net.TCPListener
	services []SLPService
	scopes   []string
	running  sync.WaitGroup
	tamperMu sync.Mutex // not mu, so that lie may call Requests

	mu       sync.Mutex
	settings slpSettings
	requests []SLPRequest
}

type slpSettings struct {
	datagram int
	fail     uint16
	mute     bool
	tamper   func([]byte) []byte
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

// Addr returns the listening address as "127.0.0.1:port".
func (a *SLPAgent) Addr() string { return a.udp.LocalAddr().String() }

// Requests returns the messages received so far, in order, including those without a response.
func (a *SLPAgent) Requests() []SLPRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests)
}

// MaxDatagram sets the maximum length of a UDP response in bytes; the default is 1400. Longer responses only
// contain the URL entries that fit (sections 6.1 and 8.2).
func (a *SLPAgent) MaxDatagram(n int) { a.set(func(s *slpSettings) { s.datagram = n }) }

// Fail makes the agent respond to every SrvRqst with an error; 0 disables that.
func (a *SLPAgent) Fail(code uint16) { a.set(func(s *slpSettings) { s.fail = code }) }

// Mute makes the agent receive requests without responding.
func (a *SLPAgent) Mute(mute bool) { a.set(func(s *slpSettings) { s.mute = mute }) }

// Tamper makes the agent send the result of lie for each response, and nothing if that is nil. Calls of lie do not
// overlap, but it must synchronize access to data that it shares with the test. A nil lie disables that.
func (a *SLPAgent) Tamper(lie func(reply []byte) []byte) {
	a.set(func(s *slpSettings) { s.tamper = lie })
}

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
			return // the test has ended
		}
		if reply := a.handle("udp", bytes.Clone(buffer[:n])); reply != nil {
			_, _ = a.udp.WriteToUDPAddrPort(reply, from) // the result of lie may be too long
		}
	}
}

func (a *SLPAgent) serveTCP(ctx context.Context) {
	for {
		conn, err := a.tcp.Accept()
		if err != nil {
			return // the test has ended
		}
		context.AfterFunc(ctx, func() { conn.Close() })
		a.running.Go(func() { serveSLPConn(conn, a.handle) })
	}
}

// serveSLPConn responds to the requests of one connection, which are framed by the length in their header
// (section 6.2).
func serveSLPConn(conn net.Conn, handle func(network string, raw []byte) []byte) {
	defer conn.Close()
	for {
		var raw bytes.Buffer // grows with the bytes received, not with the declared length
		if _, err := io.CopyN(&raw, conn, slpHeaderSize); err != nil {
			return
		}
		// With a declared length below that of a header, CopyN reads nothing.
		if _, err := io.CopyN(&raw, conn, int64(slpLength(raw.Bytes())-slpHeaderSize)); err != nil {
			return
		}
		if _, err := conn.Write(handle("tcp", raw.Bytes())); err != nil {
			return
		}
	}
}

// handle records a message and returns the response, or nil.
func (a *SLPAgent) handle(network string, raw []byte) []byte {
	r, code := parseSLPRequest(network, raw)
	a.mu.Lock()
	a.requests = append(a.requests, r)
	settings := a.settings
	a.mu.Unlock()
	// Section 6.3: an agent in the PRList has responded before.
	answered := shareSLP(strings.Split(r.PRList, ","), []string{slpAgentHost})
	if settings.mute || answered || len(raw) < slpHeaderSize || raw[1] != srvRqst {
		return nil
	}
	reply := a.answer(r, cmp.Or(settings.fail, code), settings.datagram)
	if reply == nil || settings.tamper == nil {
		return reply
	}
	a.tamperMu.Lock()
	defer a.tamperMu.Unlock()
	return settings.tamper(reply)
}

// answer returns the response to a request with the error code, or 0.
func (a *SLPAgent) answer(r SLPRequest, code uint16, datagram int) []byte {
	discovery := foldSLP(r.ServiceType) == directoryAgent
	var entries [][]byte
	if code == 0 {
		entries, code = a.find(r, discovery)
	}
	// Multicast: sections 7, 8.2 and 12.1. Section 8.1 allows no
	// advertisement if the predicate has attributes that the agent lacks.
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

// find returns the URL entries of matching services, or the body of an advertisement.
func (a *SLPAgent) find(r SLPRequest, discovery bool) (found [][]byte, code uint16) {
	scopes, scopesOK := parseSLPScopes(r.Scopes)
	matches, predicateOK := parseSLPPredicate(r.Predicate)
	switch {
	case r.ServiceType == "" || !scopesOK || !predicateOK: // the type is REQUIRED, section 8.1
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
	services, code := a.inLanguage(r, scopes)
	for _, s := range services {
		if matches(s.Attributes) {
			found = append(found, packURLEntry(s))
		}
	}
	return found, code
}

// inLanguage returns the services of the type in the scopes and, if there is a
// predicate, in the language of the request (section 8.1).
func (a *SLPAgent) inLanguage(r SLPRequest, scopes []string) (services []SLPService, code uint16) {
	otherLanguage := false
	for _, s := range a.services {
		switch {
		case !matchSLPType(r.ServiceType, s.Type) || !shareSLP(scopes, s.Scopes):
		case r.Predicate != "" && primarySLPTag(r.Lang) != primarySLPTag(s.Lang):
			otherLanguage = true
		default:
			services = append(services, s)
		}
	}
	if otherLanguage && len(services) == 0 {
		return nil, languageNotSupported
	}
	return services, 0
}

// matchSLPType reports whether a service has the requested type, or a concrete type of the requested abstract
// type (section 4.1).
func matchSLPType(requested, offered string) bool {
	requested, offered = foldSLP(requested), foldSLP(offered)
	abstract := strings.HasPrefix(requested, "service:") && strings.Count(requested, ":") == 1
	return offered == requested || abstract && strings.HasPrefix(offered, requested+":")
}

// primarySLPTag removes the dialect, which is ignored (section 8.1).
func primarySLPTag(tag string) string {
	primary, _, _ := strings.Cut(foldSLP(tag), "-")
	return primary
}

// shareSLP reports whether two lists have a common string.
func shareSLP(some, others []string) bool {
	return slices.ContainsFunc(some, func(s string) bool {
		return slices.ContainsFunc(others, func(o string) bool { return foldSLP(s) == foldSLP(o) })
	})
}
