package ddds

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/resolver"
)

// Servers without EDNS are queried again without it, and from then on: RFC 6891 section 7.
func TestServerWithoutEDNS(t *testing.T) {
	for what, refuse := range map[string]func(m *dns.Msg){
		"FORMERR":                    func(m *dns.Msg) { m.Rcode = dns.RcodeFormatError },
		"FORMERR without a question": func(m *dns.Msg) { m.Rcode, m.Question = dns.RcodeFormatError, nil },
		"NOTIMP":                     func(m *dns.Msg) { m.Rcode = dns.RcodeNotImplemented },
		"BADVERS": func(m *dns.Msg) {
			m.SetEdns0(udpSize, false)
			m.Rcode = dns.RcodeBadVers
		},
	} {
		t.Run(what, func(t *testing.T) {
			var mu sync.Mutex
			var edns []bool
			good := replyWith("a.example.").handler(t)
			addr := serve(t, func(w dns.ResponseWriter, q *dns.Msg) {
				mu.Lock()
				edns = append(edns, q.IsEdns0() != nil)
				mu.Unlock()
				if q.IsEdns0() == nil {
					good(w, q)
					return
				}
				m := new(dns.Msg).SetReply(q)
				refuse(m)
				write(t, w, m)
			}, nil)
			c := newTestClient(longTimeout, addr)
			ctx, trace := resolver.WithTrace(t.Context(), c.config.Now)
			if got, _, err := c.NAPTR(ctx, name); replacements(got) != "a.example." || err != nil {
				t.Fatalf("got %v, %v", got, err)
			}
			if got := details(trace, "dns"); len(got) != 1 ||
				!strings.Contains(got[0], strings.Fields(what)[0]+", again without EDNS: NOERROR") {
				t.Errorf("traced %q", got)
			}
			expectReply(t, c, "a.example.")
			mu.Lock()
			defer mu.Unlock()
			if want := []bool{true, false, false}; !slices.Equal(edns, want) {
				t.Errorf("asked with EDNS: %v, want %v", edns, want)
			}
		})
	}
}

// A server that also rejects questions without EDNS is not remembered as one without EDNS.
func TestRefusalIsNotAboutEDNS(t *testing.T) {
	c := newTestClient(longTimeout, serve(t, reply{rcode: dns.RcodeNotImplemented}.handler(t), nil))
	expectUnreachable(t, c, "NOTIMP")
	if c.servers[0].plain(c.config.Now()) {
		t.Error("queried without EDNS")
	}
}

// Extended errors are part of the error: RFC 8914.
func TestExtendedErrors(t *testing.T) {
	r := reply{rcode: dns.RcodeServerFailure, change: func(m *dns.Msg) {
		m.SetEdns0(udpSize, false)
		opt := m.IsEdns0()
		opt.Option = append(opt.Option,
			&dns.EDNS0_EDE{InfoCode: dns.ExtendedErrorCodeDNSBogus, ExtraText: "no DS\nrecord"})
	}}
	expectUnreachable(t, newTestClient(longTimeout, serve(t, r.handler(t), nil)),
		`response code SERVFAIL (extended error 6 DNSSEC Bogus: "no DS\nrecord")`)
}

// Signatures are not counted as records.
func TestSignaturesAreNotRecords(t *testing.T) {
	r := replyWith("a.example.")
	r.answer = append(r.answer, name+" 60 IN RRSIG NAPTR 8 3 60 20300101000000 20200101000000 1 urn.arpa. AAAA")
	c := newTestClient(longTimeout, serve(t, r.handler(t), nil))
	ctx, trace := resolver.WithTrace(t.Context(), c.config.Now)
	if _, _, err := c.NAPTR(ctx, name); err != nil {
		t.Fatal(err)
	}
	if got := details(trace, "dns"); len(got) != 1 || !strings.Contains(got[0], "NOERROR, 1 record, ") {
		t.Errorf("traced %q", got)
	}
}
