package urndtest

import (
	"errors"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/miekg/dns"
)

// DNSServer contains the handlers of a DNS server for each network; nil does not listen there.
type DNSServer struct{ UDP, TCP dns.HandlerFunc }

func UDPAndTCP(h dns.HandlerFunc) DNSServer { return DNSServer{h, h} }

// Serve runs the server on one loopback port until the end of the test.
func (s DNSServer) Serve(t testing.TB) string {
	t.Helper()
	udp, tcp := listenOnOnePort(t)
	if s.UDP == nil {
		_ = udp.Close()
	} else {
		runDNS(t, &dns.Server{PacketConn: udp, Handler: s.UDP})
	}
	if s.TCP == nil {
		_ = tcp.Close()
		hold(t, tcp.Addr())
	} else {
		runDNS(t, &dns.Server{Listener: tcp, Handler: s.TCP})
	}
	return tcp.Addr().String()
}

func listenOnOnePort(t testing.TB) (net.PacketConn, net.Listener) {
	t.Helper()
	const attempts = 20
	var last error
	for range attempts {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		udp, err := net.ListenPacket("udp", tcp.Addr().String())
		if err == nil {
			return udp, tcp
		}
		last = errors.Join(err, tcp.Close())
	}
	t.Fatal(last)
	return nil, nil
}

// hold keeps a TCP port until the end of the test without listening, so that no other test listens there:
// connections are refused.
func hold(t testing.TB, address net.Addr) {
	t.Helper()
	at, ok := address.(*net.TCPAddr)
	if !ok {
		t.Fatalf("%v is no address of TCP", address)
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: at.Port, Addr: [4]byte(at.IP.To4())}); err != nil {
		t.Fatal(err)
	}
}

func runDNS(t testing.TB, server *dns.Server) {
	t.Helper()
	started := make(chan struct{})
	server.NotifyStartedFunc = func() { close(started) }
	var running sync.WaitGroup
	running.Go(func() {
		if err := server.ActivateAndServe(); err != nil {
			t.Error(err)
		}
	})
	<-started
	t.Cleanup(func() {
		if err := server.Shutdown(); err != nil {
			t.Error(err)
		}
		running.Wait()
	})
}

// Silent receives queries without responding.
func Silent(dns.ResponseWriter, *dns.Msg) {}

// AnswerRcode responds to every query with a response code and no records.
func AnswerRcode(rcode int) dns.HandlerFunc {
	return func(w dns.ResponseWriter, question *dns.Msg) { _ = w.WriteMsg(new(dns.Msg).SetRcode(question, rcode)) }
}

// Zone responds like a recursive server with these records, in master file format: it follows aliases, adds an
// SOA to negative answers (RFC 2308), and truncates responses that do not fit.
func Zone(t testing.TB, lines ...string) dns.HandlerFunc {
	t.Helper()
	sets := make(map[string][]dns.RR) // by name and type
	names := make(map[string]bool)
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		h := rr.Header()
		names[h.Name] = true
		key := h.Name + " " + dns.TypeToString[h.Rrtype]
		sets[key] = append(sets[key], rr)
	}
	soa, err := dns.NewRR("urn.example.org. 60 IN SOA ns.example.org. host.example.org. 1 1 1 1 60")
	if err != nil {
		t.Fatal(err)
	}
	return func(w dns.ResponseWriter, question *dns.Msg) {
		m := new(dns.Msg).SetReply(question)
		m.RecursionAvailable, m.Compress = true, true
		name := strings.ToLower(question.Question[0].Name)
		for range sets { // terminates cycles
			alias, ok := sets[name+" CNAME"]
			if !ok {
				break
			}
			m.Answer = append(m.Answer, alias...)
			name = alias[0].(*dns.CNAME).Target
		}
		if found := sets[name+" "+dns.TypeToString[question.Question[0].Qtype]]; len(found) > 0 {
			m.Answer = append(m.Answer, found...)
		} else {
			m.Ns = []dns.RR{soa}
		}
		if !names[name] {
			m.Rcode = dns.RcodeNameError
		}
		if size := question.IsEdns0(); size != nil && w.LocalAddr().Network() == "udp" {
			m.Truncate(int(size.UDPSize()))
		}
		_ = w.WriteMsg(m)
	}
}

// AlterResponses sends a modified response of another handler, followed by the original one if original is set.
func AlterResponses(next dns.HandlerFunc, original bool, change func(*dns.Msg)) dns.HandlerFunc {
	return func(w dns.ResponseWriter, question *dns.Msg) {
		next(&alteringWriter{w, original, change}, question)
	}
}

type alteringWriter struct {
	dns.ResponseWriter
	original bool
	change   func(*dns.Msg)
}

// WriteMsg implements dns.ResponseWriter.
func (c *alteringWriter) WriteMsg(m *dns.Msg) error {
	other := m.Copy()
	c.change(other)
	err := c.ResponseWriter.WriteMsg(other)
	if c.original {
		err = errors.Join(err, c.ResponseWriter.WriteMsg(m))
	}
	return err
}

// ExampleRule is a rule for urn:name: in the zone of Default.
const ExampleRule = `name.urn.example.org. 60 IN NAPTR 100 10 "u" "http+N2L" "!^urn:name:(.+)$!https://a.example/\\1!" .`
