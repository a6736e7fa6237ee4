package ddds

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// instant is a connection to a DNS server that replies immediately with prepared messages, so that only the
// client is measured.
type instant struct {
	net.Conn
	replies map[string][]byte // by name and type
	reply   []byte
	queried *int
}

func (c *instant) Write(question []byte) (int, error) {
	var m dns.Msg
	if err := m.Unpack(question); err != nil {
		return 0, err
	}
	*c.queried++
	c.reply = c.replies[m.Question[0].String()]
	if len(c.reply) > 0 {
		c.reply[0], c.reply[1] = question[0], question[1]
	}
	return len(question), nil
}

func (c *instant) Read(b []byte) (int, error) {
	if c.reply == nil {
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(b, c.reply)
	c.reply = nil
	return n, nil
}

func (c *instant) Close() error                     { return nil }
func (c *instant) SetDeadline(time.Time) error      { return nil }
func (c *instant) SetReadDeadline(time.Time) error  { return nil }
func (c *instant) SetWriteDeadline(time.Time) error { return nil }

// These methods make it a net.PacketConn, for messages without a length prefix.
func (c *instant) ReadFrom(b []byte) (int, net.Addr, error)  { n, err := c.Read(b); return n, nil, err }
func (c *instant) WriteTo(b []byte, _ net.Addr) (int, error) { return c.Write(b) }
func (c *instant) LocalAddr() net.Addr                       { return &net.UDPAddr{} }
func (c *instant) RemoteAddr() net.Addr                      { return &net.UDPAddr{} }

// pack returns the encoded reply with one record, and its question.
func pack(tb testing.TB, record string) (question string, reply []byte) {
	tb.Helper()
	rr, err := dns.NewRR(record)
	if err != nil {
		tb.Fatal(err)
	}
	m := new(dns.Msg).SetQuestion(rr.Header().Name, rr.Header().Rrtype)
	m.Response, m.Answer = true, []dns.RR{rr}
	reply, err = m.Pack()
	if err != nil {
		tb.Fatal(err)
	}
	return m.Question[0].String(), reply
}

// BenchmarkCold resolves names that are not cached, through two NAPTR steps and one SRV record, with one query
// for each record set.
func BenchmarkCold(b *testing.B) {
	replies := make(map[string][]byte)
	for _, record := range []string{
		`foo.urn.arpa. 300 IN NAPTR 100 10 "" "" "" rules.foo.example.`,
		`rules.foo.example. 300 IN NAPTR 100 10 "s" "thttp+N2L" "!^urn:foo:(.+)$!_thttp._tcp.foo.example!" .`,
		`_thttp._tcp.foo.example. 300 IN SRV 0 0 8080 host.foo.example.`,
	} {
		question, reply := pack(b, record)
		replies[question] = reply
	}
	requested := 0
	var now clock
	client := NewClient(ClientConfig{
		Servers: []Server{{Address: "192.0.2.1:53"}}, Timeout: time.Minute, Rounds: 1, Now: now.now,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			return &instant{replies: replies, queried: &requested}, nil
		},
	})
	r := New(Config{
		Lookup: NewCached(newRecords(b, &now), client, Bounds{}), Roots: []string{"urn.arpa."},
		MaxDomains: 5,
	})
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		now.advance(time.Hour) // expires the cached records
		q := query(b, fmt.Sprintf("urn:foo:%d", n))
		answer, err := r.Resolve(b.Context(), q)
		if err != nil || locations(answer) != "http://host.foo.example:8080/uri-res/N2L?"+q.URI.String() {
			b.Fatal(answer, err)
		}
		n++
	}
	if requested != 3*n {
		b.Fatalf("%d questions for %d names", requested, n)
	}
}
