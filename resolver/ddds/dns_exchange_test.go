package ddds

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/resolver"
)

// replyWith returns a reply with one record, which identifies it.
func replyWith(target string) reply {
	return reply{answer: []string{`foo.urn.arpa. 60 IN NAPTR 1 1 "" "" "" ` + target}}
}

// expectReply looks up name, and expects the record of replyWith.
func expectReply(t *testing.T, c *Client, target string) {
	t.Helper()
	got, _, err := c.NAPTR(t.Context(), name)
	if replacements(got) != target || err != nil {
		t.Errorf("got %v, %v; want %s", got, err, target)
	}
}

// expectUnreachable looks up name, and expects an error that contains all parts.
func expectUnreachable(t *testing.T, c *Client, parts ...string) {
	t.Helper()
	got, info, err := c.NAPTR(t.Context(), name)
	var n *resolver.Negative
	if !errors.Is(err, resolver.ErrUnreachable) || errors.As(err, &n) || got != nil || info.TTL != 0 {
		t.Errorf("got %v for %s, %v", got, info.TTL, err)
		return
	}
	for _, part := range append(parts, "querying foo.urn.arpa. NAPTR: ") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("got %q without %q", err, part)
		}
	}
}

func TestQuestion(t *testing.T) {
	questions := make(chan *dns.Msg, 1)
	handler := replyWith("a.example.").handler(t)
	addr := serve(t, func(w dns.ResponseWriter, question *dns.Msg) {
		questions <- question.Copy()
		handler(w, question)
	}, nil)
	got, _, err := newTestClient(longTimeout, addr).NAPTR(t.Context(), "FOO.urn.Arpa")
	if replacements(got) != "a.example." || err != nil {
		t.Fatalf("got %v, %v", got, err)
	}
	requested := <-questions
	want := dns.Question{Name: name, Qtype: dns.TypeNAPTR, Qclass: dns.ClassINET}
	if len(requested.Question) != 1 || requested.Question[0] != want || !requested.RecursionDesired ||
		requested.Response ||
		requested.Opcode != dns.OpcodeQuery {
		t.Errorf("asked %s", requested)
	}
	if opt := requested.IsEdns0(); opt == nil || opt.UDPSize() != udpSize || !opt.Do() || !requested.AuthenticatedData {
		t.Errorf("asked with %v", opt)
	}
}

func TestTruncatedReplyIsRepeatedOverTCP(t *testing.T) {
	cut := replyWith("cut.example.")
	cut.change = func(m *dns.Msg) { m.Truncated = true }
	expectReply(t, newTestClient(longTimeout, serve(t, cut.handler(t), replyWith("whole.example.").handler(t))),
		"whole.example.")

	addr := serve(t, cut.handler(t), nil)
	expectUnreachable(t, newTestClient(longTimeout, addr), "server "+addr, "refused")

	// A truncated reply over TCP is used unchanged.
	expectReply(t, newTestClient(longTimeout, serve(t, cut.handler(t), cut.handler(t))), "cut.example.")

	broken := func(w dns.ResponseWriter, _ *dns.Msg) {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	expectUnreachable(t, newTestClient(longTimeout, serve(t, cut.handler(t), broken)), "receiving over tcp", "EOF")
	if _, _, err := newTestClient(shortTimeout, serve(t, cut.handler(t), silent)).NAPTR(t.Context(),
		name); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no reply over TCP: got %v", err)
	}
}

// A reply to another question is skipped: it may be late, or forged (RFC 5452 section 4).
func TestForeignMessagesAreSkipped(t *testing.T) {
	wrong := map[string]func(*dns.Msg){
		"id":                func(m *dns.Msg) { m.Id++ },
		"name":              func(m *dns.Msg) { m.Question[0].Name = "bar.urn.arpa." },
		"type":              func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeSRV },
		"class":             func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS },
		"no question":       func(m *dns.Msg) { m.Question = nil },
		"two questions":     func(m *dns.Msg) { m.Question = append(m.Question, m.Question[0]) },
		"the question only": func(m *dns.Msg) { m.Response, m.Answer = false, nil },
	}
	garbage := map[string][]byte{
		"nothing": {}, "one byte": {0}, "half a header": make([]byte, 7),
		"no message": []byte("HTTP/1.1 400 Bad Request\r\n\r\n"),
	}
	genuine := replyWith("true.example.").handler(t)
	for _, network := range []string{"udp", "tcp"} {
		handler := func(w dns.ResponseWriter, question *dns.Msg) {
			for what, change := range wrong {
				m := new(dns.Msg).SetReply(question)
				m.Answer = parseRecords(t, replyWith("forged.example.").answer)
				change(m)
				if err := w.WriteMsg(m); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			for what, data := range garbage {
				if _, err := w.Write(data); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			genuine(w, question)
		}
		truncated := reply{change: func(m *dns.Msg) { m.Truncated = true }}.handler(t)
		addr := serve(t, handler, nil)
		if network == "tcp" {
			addr = serve(t, truncated, handler)
		}
		expectReply(t, newTestClient(longTimeout, addr), "true.example.")
	}
}

func TestNameOfTheReplyIsComparedWithoutCase(t *testing.T) {
	r := replyWith("a.example.")
	r.change = func(m *dns.Msg) { m.Question[0].Name = "FOO.Urn.ARPA." }
	expectReply(t, newTestClient(longTimeout, serve(t, r.handler(t), nil)), "a.example.")
}

func TestNextServer(t *testing.T) {
	good := serve(t, replyWith("a.example.").handler(t), nil)
	for what, bad := range map[string]string{
		"SERVFAIL": serve(t, reply{rcode: dns.RcodeServerFailure}.handler(t), nil),
		"REFUSED":  serve(t, reply{rcode: dns.RcodeRefused}.handler(t), nil),
		"referral": serve(t, reply{ns: []string{"arpa. 60 IN NS a.example."}}.handler(t), nil),
		"port":     refusing(t),
	} {
		t.Run(what, func(t *testing.T) { expectReply(t, newTestClient(longTimeout, bad, good), "a.example.") })
	}
	t.Run("silence", func(t *testing.T) {
		client := newTestClient(shortTimeout, serve(t, silent, nil), good)
		client.config.Rounds = 100 // a busy machine may take longer than shortTimeout
		expectReply(t, client, "a.example.")
	})
	t.Run("a negative answer is final", func(t *testing.T) {
		missing := serve(t, reply{rcode: dns.RcodeNameError}.handler(t), nil)
		_, _, err := newTestClient(longTimeout, missing, good).NAPTR(t.Context(), name)
		expectNegative(t, err, resolver.ErrNotFound, 0, "NXDOMAIN")
	})
}

func TestRounds(t *testing.T) {
	var requested atomic.Int32
	fail, succeed := reply{rcode: dns.RcodeServerFailure}.handler(t), replyWith("a.example.").handler(t)
	addr := serve(t, func(w dns.ResponseWriter, question *dns.Msg) {
		if requested.Add(1) < 3 {
			fail(w, question)
			return
		}
		succeed(w, question)
	}, nil)
	client := newTestClient(longTimeout, addr, refusing(t))
	client.config.Rounds = 3
	expectReply(t, client, "a.example.")
	if got := requested.Load(); got != 3 {
		t.Errorf("asked %d times", got)
	}
}

func TestUnreachable(t *testing.T) {
	failing := serve(t, reply{rcode: dns.RcodeServerFailure}.handler(t), nil)
	closed := refusing(t)
	expectUnreachable(t, newTestClient(longTimeout), "no DNS server configured")
	expectUnreachable(t, newTestClient(longTimeout, closed), "server "+closed, "receiving over udp", "refused")
	expectUnreachable(t, newTestClient(longTimeout, failing, closed), "server "+failing+": response code SERVFAIL",
		"server "+closed)

	client := newTestClient(longTimeout, failing)
	client.config.Rounds = 5
	_, _, err := client.NAPTR(t.Context(), name)
	if err == nil || strings.Count(err.Error(), "SERVFAIL") != 1 {
		t.Errorf("five rounds: got %v", err)
	}

	long := strings.Repeat("a", 64) + ".example."
	if _, _, err := newTestClient(longTimeout, failing).NAPTR(t.Context(), long); !errors.Is(err,
		resolver.ErrUnreachable) {
		t.Errorf("a name too long for a message: got %v", err)
	}
}

// A referral is no answer, not even after an alias, for which alone the server may be authoritative (RFC 2308
// sections 2.1 and 2.2).
func TestReferralIsNoAnswer(t *testing.T) {
	ns := []string{"example. 60 IN NS a.example.", "example. 60 IN NS b.example."}
	alias := []string{"foo.urn.arpa. 60 IN CNAME c.example."}
	for what, r := range map[string]reply{
		"plain":                      {ns: ns},
		"behind an alias":            {answer: alias, ns: ns},
		"behind an alias of its own": {authoritative: true, answer: alias, ns: ns},
	} {
		t.Run(what, func(t *testing.T) {
			expectUnreachable(t, newTestClient(longTimeout, serve(t, r.handler(t), nil)), "referral: ")
		})
	}
	answer := replyWith("a.example.")
	answer.ns = ns
	expectReply(t, newTestClient(longTimeout, serve(t, answer.handler(t), nil)), "a.example.")
}

func TestSilence(t *testing.T) {
	client := newTestClient(shortTimeout, serve(t, silent, nil), serve(t, silent, nil))
	client.config.Rounds = 2
	got, info, err := client.NAPTR(t.Context(), name)
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, resolver.ErrUnreachable) || got != nil ||
		info.TTL != 0 {
		t.Errorf("got %v for %s, %v", got, info.TTL, err)
	}
}

func TestCancelEndsAWaitingRead(t *testing.T) {
	gone := errors.New("the client disconnected")
	ctx, cancel := context.WithCancelCause(t.Context())
	addr := serve(t, func(dns.ResponseWriter, *dns.Msg) { cancel(gone) }, nil)
	client := newTestClient(longTimeout, addr, addr)
	if _, _, err := client.NAPTR(ctx, name); !errors.Is(err, gone) || errors.Is(err, resolver.ErrUnreachable) {
		t.Errorf("got %v", err)
	}
	if _, _, err := client.NAPTR(ctx, name); !errors.Is(err, gone) {
		t.Errorf("asked again: got %v", err)
	}
}

func TestDialFails(t *testing.T) {
	forbidden := errors.New("forbidden by policy")
	client := newTestClient(longTimeout, "192.0.2.1:53")
	client.config.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, forbidden }
	expectUnreachable(t, client, "server 192.0.2.1:53", "forbidden by policy")

	client = newTestClient(shortTimeout, "192.0.2.1:53")
	client.config.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if _, _, err := client.NAPTR(t.Context(), name); !errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, resolver.ErrUnreachable) {
		t.Errorf("a slow dial: got %v", err)
	}
}

// If one server is too slow and another fails, the error is not a timeout.
func TestOneServerIsTooSlow(t *testing.T) {
	slow := serve(t, silent, nil)
	client := newTestClient(shortTimeout, slow, "192.0.2.1:53")
	dial := client.config.Dial
	client.config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != slow {
			return nil, errors.New("network is down")
		}
		return dial(ctx, network, address)
	}
	expectUnreachable(t, client, "timeout", "network is down")
}

// ended is a connection that the peer has closed. It is not a *net.UDPConn, and its errors are not those of
// package net.
type ended struct{ net.Conn }

func (ended) Write(b []byte) (int, error) { return len(b), nil }
func (ended) Read([]byte) (int, error)    { return 0, io.EOF }

func TestReadEndsAtEOF(t *testing.T) {
	client := newTestClient(longTimeout, "192.0.2.1:53")
	client.config.Dial = func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		return ended{here}, there.Close()
	}
	expectUnreachable(t, client, "receiving over udp", "EOF")
}

func TestClientIsTraced(t *testing.T) {
	failing := serve(t, reply{rcode: dns.RcodeServerFailure}.handler(t), nil)
	good := serve(t, replyWith("a.example.").handler(t), nil)
	client := newTestClient(longTimeout, failing, good)
	ctx, trace := resolver.WithTrace(t.Context(), client.config.Now)
	if _, _, err := client.NAPTR(ctx, name); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"foo.urn.arpa. NAPTR at " + failing + ": response code SERVFAIL in 0s",
		"foo.urn.arpa. NAPTR at " + good +
			", after a failure of the previous server: NOERROR, 1 record, ttl 1m0s, not authenticated in 0s",
	}
	if got := details(trace, "dns"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
