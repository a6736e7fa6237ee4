package ddds

import (
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// longTimeout is the timeout of queries that get a reply.
const longTimeout = 20 * time.Second

// shortTimeout is the timeout of queries that get no reply.
const shortTimeout = 50 * time.Millisecond

// listen opens one port of 127.0.0.1 for UDP and TCP.
func listen(t testing.TB) (net.PacketConn, net.Listener) {
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

// serve runs a DNS server until the end of the test, and returns its address. With a nil handler it does not
// listen on that protocol.
func serve(t testing.TB, onUDP, onTCP dns.HandlerFunc) string {
	t.Helper()
	udp, tcp := listen(t)
	if onUDP == nil {
		_ = udp.Close()
	} else {
		run(t, &dns.Server{PacketConn: udp, Handler: onUDP})
	}
	if onTCP == nil {
		_ = tcp.Close()
	} else {
		run(t, &dns.Server{Listener: tcp, Handler: onTCP})
	}
	return tcp.Addr().String()
}

func run(t testing.TB, server *dns.Server) {
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

// refusing returns an address without a listener.
func refusing(t testing.TB) string {
	t.Helper()
	return serve(t, nil, nil)
}

// silent receives queries and does not reply.
func silent(dns.ResponseWriter, *dns.Msg) {}

// reply is the reply of a server; its records are in the syntax of master files.
type reply struct {
	rcode         int
	authoritative bool
	answer, ns    []string
	change        func(*dns.Msg)
}

// handler returns a handler that replies to every query with r.
func (r reply) handler(t testing.TB) dns.HandlerFunc {
	t.Helper()
	answer, ns := parseRecords(t, r.answer), parseRecords(t, r.ns)
	return func(w dns.ResponseWriter, question *dns.Msg) {
		m := new(dns.Msg).SetRcode(question, r.rcode)
		m.Authoritative, m.Answer, m.Ns = r.authoritative, answer, ns
		if r.change != nil {
			r.change(m)
		}
		write(t, w, m)
	}
}

func parseRecords(t testing.TB, lines []string) []dns.RR {
	t.Helper()
	var records []dns.RR
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		records = append(records, rr)
	}
	return records
}

func write(t testing.TB, w dns.ResponseWriter, m *dns.Msg) {
	t.Helper()
	if err := w.WriteMsg(m); err != nil {
		t.Errorf("writing a reply: %v", err)
	}
}

// newTestClient returns a client for servers on this machine.
func newTestClient(timeout time.Duration, servers ...string) *Client {
	var now clock
	var requested []Server
	for _, server := range servers {
		requested = append(requested, Server{Address: server})
	}
	return NewClient(ClientConfig{
		Servers: requested, Dial: (&net.Dialer{}).DialContext,
		Timeout: timeout, Rounds: 1, Now: now.now,
	})
}

// replacements joins the REPLACEMENT fields of records.
func replacements(records []NAPTR) string {
	var names []string
	for _, r := range records {
		names = append(names, r.Replacement)
	}
	return strings.Join(names, " ")
}
