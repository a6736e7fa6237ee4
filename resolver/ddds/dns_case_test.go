package ddds

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/resolver"
)

// mixedCase makes a client send questions in random case. It also returns its clock.
func (c *Client) mixedCase() (*Client, *clock) {
	at := new(clock)
	return c.change(func(config *ClientConfig) { config.MixCase, config.Now = true, at.now }), at
}

// names records the names of questions.
type names struct {
	mu  sync.Mutex
	all []string
}

func (n *names) seen(handler dns.HandlerFunc) dns.HandlerFunc {
	return func(w dns.ResponseWriter, question *dns.Msg) {
		n.mu.Lock()
		n.all = append(n.all, question.Question[0].Name)
		n.mu.Unlock()
		handler(w, question)
	}
}

// get returns the names so far.
func (n *names) get() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}

// otherCase is a server that does not preserve the case: it never replies in that of the question.
func otherCase(handler dns.HandlerFunc) dns.HandlerFunc {
	return func(w dns.ResponseWriter, question *dns.Msg) {
		name := question.Question[0].Name
		if question.Question[0].Name = strings.ToUpper(name); question.Question[0].Name == name {
			question.Question[0].Name = strings.ToLower(name)
		}
		handler(w, question)
	}
}

// A server that preserves the case is queried in random case, and targets are in lower case.
func TestMixedCase(t *testing.T) {
	var requested names
	handler := requested.seen(func(w dns.ResponseWriter, question *dns.Msg) {
		m := new(dns.Msg).SetReply(question)
		m.Compress = true
		owner := question.Question[0].Name
		m.Answer = []dns.RR{&dns.SRV{Hdr: dns.RR_Header{
			Name: owner, Rrtype: dns.TypeSRV, Class: dns.ClassINET,
			Ttl: 60,
		}, Port: 1, Target: owner}}
		write(t, w, m)
	})
	client, _ := newTestClient(longTimeout, serve(t, handler, nil)).mixedCase()
	distinct := make(map[string]bool)
	for range 20 {
		got, _, err := client.SRV(t.Context(), "_a._tcp.example.org.")
		if err != nil || len(got) != 1 || got[0].Target != "_a._tcp.example.org." {
			t.Fatalf("got %v, %v", got, err)
		}
	}
	for _, name := range requested.get() {
		distinct[name] = true
		if !strings.EqualFold(name, "_a._tcp.example.org.") {
			t.Errorf("asked for %s", name)
		}
	}
	if len(distinct) < 15 { // of 2^15 spellings
		t.Errorf("asked for %q", requested.get())
	}
}

// A server that does not preserve the case is detected over TCP, and then queried in lower case for a while.
func TestServerChangesCase(t *testing.T) {
	var udp, tcp names
	handler := otherCase(replyWith("a.example.").handler(t))
	client, at := newTestClient(longTimeout, serve(t, udp.seen(handler), tcp.seen(handler))).mixedCase()
	for range 3 {
		expectReply(t, client, "a.example.")
	}
	if byUDP, byTCP := udp.get(), tcp.get(); len(byUDP) != 3 || len(byTCP) != 2 || byUDP[1] != name ||
		byUDP[2] != name {
		t.Errorf("queried %q over UDP, %q over TCP", byUDP, byTCP)
	}
	at.advance(sameCaseFor)
	expectReply(t, client, "a.example.")
	if len(tcp.get()) == 2 {
		t.Error("random case never retried")
	}
	// A server without TCP, or with TCP dropped.
	for _, onTCP := range []dns.HandlerFunc{nil, silent} {
		client, _ = newTestClient(time.Second, serve(t, handler, onTCP)).mixedCase()
		for range 2 {
			expectReply(t, client, "a.example.")
		}
	}
	// A server that preserves the case over UDP alone, with truncated replies.
	cut := replyWith("cut.example.")
	cut.change = func(m *dns.Msg) { m.Truncated = true }
	client, _ = newTestClient(longTimeout, serve(t, cut.handler(t), handler)).mixedCase()
	expectReply(t, client, "a.example.")
	expectReply(t, client, "a.example.")
	// A server without EDNS, which rejects it without repeating the question.
	old := func(w dns.ResponseWriter, question *dns.Msg) {
		if question.IsEdns0() == nil {
			handler(w, question)
			return
		}
		m := new(dns.Msg).SetRcode(question, dns.RcodeFormatError)
		m.Question = nil
		write(t, w, m)
	}
	client, _ = newTestClient(longTimeout, serve(t, old, old)).mixedCase()
	expectReply(t, client, "a.example.")
	expectReply(t, client, "a.example.")
}

// A forged reply in another case is ignored if the server preserves the case.
func TestForgedReplyInAnotherCase(t *testing.T) {
	forged, genuine := otherCase(replyWith("forged.example.").handler(t)), replyWith("true.example.").handler(t)
	client, _ := newTestClient(longTimeout, serve(t, forged, genuine)).mixedCase()
	for range 5 {
		expectReply(t, client, "true.example.")
	}
}

// RFC 1035 section 4.1.1: a message whose counts do not match its records is not a reply.
func TestCountsOfReply(t *testing.T) {
	m := new(dns.Msg).SetReply(question(name, dns.TypeNAPTR, false))
	m.Answer = parseRecords(t, replyWith("a.example.").answer)
	m.SetEdns0(udpSize, false)
	message, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	if !isComplete(message) {
		t.Error("a message as it should be")
	}
	for section := range 4 {
		for _, change := range []int{-1, 1, 1000} {
			changed := append([]byte(nil), message...)
			at := changed[4+2*section:]
			count := int(binary.BigEndian.Uint16(at)) + change
			if count < 0 {
				continue
			}
			binary.BigEndian.PutUint16(at, uint16(count))
			if isComplete(changed) {
				t.Errorf("count %d of section %d: complete", count, section)
			}
		}
	}
	for n := range message {
		if isComplete(message[:n]) {
			t.Errorf("the first %d bytes are complete", n)
		}
	}
	if isComplete(append(message, 0)) {
		t.Error("a byte behind it")
	}
	// Such a message is skipped, and the genuine reply used.
	genuine := replyWith("true.example.").handler(t)
	handler := func(w dns.ResponseWriter, question *dns.Msg) {
		m := new(dns.Msg).SetReply(question)
		m.Answer = parseRecords(t, replyWith("forged.example.").answer)
		forged, _ := m.Pack()
		forged[7] = 2
		if _, err := w.Write(forged); err != nil {
			t.Error(err)
		}
		genuine(w, question)
	}
	expectReply(t, newTestClient(longTimeout, serve(t, handler, nil)), "true.example.")
}

// Records of another class are no answer, and a message that is not a response is skipped.
func TestReplyOfAnotherClass(t *testing.T) {
	chaos := replyWith("chaos.example.")
	chaos.answer = []string{strings.Replace(chaos.answer[0], " IN ", " CH ", 1)}
	_, _, err := newTestClient(longTimeout, serve(t, chaos.handler(t), nil)).NAPTR(t.Context(), name)
	if err == nil || errors.Is(err, resolver.ErrUnreachable) && !strings.Contains(err.Error(), "refers") {
		t.Errorf("records of class CH: %v", err)
	}
	genuine := replyWith("true.example.").handler(t)
	expectReply(t, newTestClient(longTimeout, serve(t, func(w dns.ResponseWriter, question *dns.Msg) {
		m := new(dns.Msg).SetReply(question)
		m.Opcode = dns.OpcodeUpdate
		m.Answer = parseRecords(t, replyWith("forged.example.").answer)
		write(t, w, m)
		genuine(w, question)
	}, nil)), "true.example.")
}

// FuzzIsComplete: messages packed by the library are complete, and nothing panics.
func FuzzIsComplete(f *testing.F) {
	m := new(dns.Msg).SetReply(question(name, dns.TypeNAPTR, false))
	m.Compress = true
	m.Answer = parseRecords(f, replyWith("a.example.").answer)
	message, _ := m.Pack()
	f.Add(message)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, message []byte) {
		isComplete(message)
		var m dns.Msg
		if m.Unpack(message) != nil {
			return
		}
		if packed, err := m.Pack(); err == nil && !isComplete(packed) {
			t.Errorf("%x is not complete", packed)
		}
	})
}
