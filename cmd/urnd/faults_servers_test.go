package main

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"
)

// dnsServer is how a DNS server answers on each network; nil does not listen there.
type dnsServer struct{ udp, tcp dns.HandlerFunc }

func udpAndTCP(h dns.HandlerFunc) dnsServer { return dnsServer{h, h} }

// serve runs it on one port of loopback until the end of the test.
func (s dnsServer) serve(t *testing.T) string {
	t.Helper()
	udp, tcp := listenOnOnePort(t)
	if s.udp == nil {
		_ = udp.Close()
	} else {
		runDNS(t, &dns.Server{PacketConn: udp, Handler: s.udp})
	}
	if s.tcp == nil {
		_ = tcp.Close()
	} else {
		runDNS(t, &dns.Server{Listener: tcp, Handler: s.tcp})
	}
	return tcp.Addr().String()
}

func listenOnOnePort(t *testing.T) (net.PacketConn, net.Listener) {
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

func runDNS(t *testing.T, server *dns.Server) {
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

// silent gets questions and answers none.
func silent(dns.ResponseWriter, *dns.Msg) {}

// answerRcode answers every question with a response code and no records.
func answerRcode(rcode int) dns.HandlerFunc {
	return func(w dns.ResponseWriter, question *dns.Msg) { _ = w.WriteMsg(new(dns.Msg).SetRcode(question, rcode)) }
}

// zone answers as a recursive server does that knows these records, in the form of
// master files: it follows aliases, adds an SOA to negative answers (RFC 2308), and
// truncates what does not fit.
func zone(t *testing.T, lines ...string) dns.HandlerFunc {
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
		for range sets { // a circle ends here
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

// webServer is a scripted HTTP server that counts its requests.
type webServer struct {
	addr, port string
	asked      atomic.Int32
}

func serveHTTP(t *testing.T, handler http.HandlerFunc) *webServer {
	t.Helper()
	s := &webServer{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		handler(w, r)
	}))
	t.Cleanup(h.Close)
	s.addr = h.Listener.Addr().String()
	_, s.port, _ = strings.Cut(s.addr, ":")
	return s
}

func redirect(w http.ResponseWriter, location string) {
	w.Header().Set("Location", location)
	w.WriteHeader(http.StatusFound)
}

// redirectToLocation answers as a server does that knows every name.
func redirectToLocation(w http.ResponseWriter, _ *http.Request) { redirect(w, "https://a.example/") }
