package adversary

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/miekg/dns"
)

// failingDNS are DNS servers that violate RFC 1034 and 1035, for the rules of a namespace and for the address of
// a host.
func (s *stage) failingDNS() []payload {
	scripts := make(map[string]answering)
	for _, code := range []int{
		dns.RcodeFormatError, dns.RcodeServerFailure, dns.RcodeNotImplemented, dns.RcodeRefused, dns.RcodeYXDomain,
		dns.RcodeNotAuth, dns.RcodeBadVers, dns.RcodeBadCookie, 11, 15,
	} {
		scripts[fmt.Sprintf("the code %d", code)] = changed(func(m *dns.Msg) {
			m.Answer, m.Rcode = nil, code
			if code > 15 {
				m.SetEdns0(1232, false)
			}
		})
	}
	scripts["silence"] = func(question) [][]byte { return nil }
	scripts["a truncated reply, over TCP too"] = changed(func(m *dns.Msg) { m.Answer, m.Truncated = nil, true })
	scripts["a truncated reply, and silence over TCP"] = func(q question) [][]byte {
		if q.tcp {
			return nil
		}
		return changed(func(m *dns.Msg) { m.Truncated = true })(q)
	}
	scripts["garbage"] = func(question) [][]byte { return [][]byte{[]byte(strings.Repeat("\xff\xc0", 600))} }
	scripts["garbage without end"] = func(question) [][]byte {
		return slicesOf([]byte(strings.Repeat("\x00", 1200)), 2000)
	}
	scripts["a reply and garbage inside"] = func(q question) [][]byte {
		wire := pack(answerOf(q, rightRule))
		return [][]byte{append(wire[:len(wire)-20], strings.Repeat("\xc0", 20)...)}
	}
	scripts["a referral"] = changed(func(m *dns.Msg) {
		m.Answer, m.Ns = nil, []dns.RR{
			record("example. 60 IN NS ns.example."),
			record("example. 60 IN NS ns2.example."),
		}
	})
	scripts["an empty reply"] = changed(func(m *dns.Msg) { m.Answer, m.Ns = nil, nil })
	scripts["an alias of itself"] = func(q question) [][]byte { return recordsOf("60 IN CNAME " + q.name())(q) }
	scripts["two aliases in a circle"] = changed(func(m *dns.Msg) {
		name := m.Question[0].Name
		m.Answer = []dns.RR{record(name + " 60 IN CNAME other.example."), record("other.example. 60 IN CNAME " + name)}
	})
	scripts["an alias that ends nowhere"] = recordsOf("60 IN CNAME nowhere.example.")
	scripts["1000 aliases"] = changed(func(m *dns.Msg) {
		m.Answer = []dns.RR{record(m.Question[0].Name + " 60 IN CNAME a0.example.")}
		for i := range 1000 {
			m.Answer = append(m.Answer, record(fmt.Sprintf("a%d.example. 60 IN CNAME a%d.example.", i, i+1)))
		}
	})
	scripts["two aliases of one name"] = recordsOf("60 IN CNAME a.example.", "60 IN CNAME b.example.")
	scripts["an alias of the longest name"] = recordsOf("60 IN CNAME " +
		strings.Repeat(strings.Repeat("a", 63)+".", 3) + "example.")
	scripts["two OPT records"] = changed(func(m *dns.Msg) {
		m.Answer = nil
		m.SetEdns0(1232, true)
		m.SetEdns0(512, true)
	})
	scripts["a reply of 64 kB"] = changed(func(m *dns.Msg) {
		m.Answer = nil
		for range 200 {
			m.Answer = append(m.Answer, record(m.Question[0].Name+` 60 IN TXT "`+strings.Repeat("a", 250)+`"`))
		}
	})
	scripts["an error with text of 60 kB"] = changed(func(m *dns.Msg) {
		m.Answer, m.Rcode = nil, dns.RcodeServerFailure
		opt := &dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT}}
		opt.Option = append(opt.Option,
			&dns.EDNS0_EDE{InfoCode: 1, ExtraText: strings.Repeat("<script>alert(1)</script>", 40)})
		m.Extra = append(m.Extra, opt)
	})
	var payloads []payload
	for name, script := range scripts {
		nid, host := s.id(), s.id()+".hosts.example"
		s.dns.on(nid+"."+zoneRoot, script)
		s.dns.on(host, script)
		payloads = append(payloads,
			s.fails(name+", for rules", "/urn:"+nid+":a"),
			s.fails(name+", for a host", "http://"+host+":"+portOf(s.origin.address)+"/"))
	}
	return inFamily("dns", payloads)
}

// changed responds with the correct rule after a modification. Messages that are too long for a datagram are
// sent nevertheless.
func changed(change func(m *dns.Msg)) answering {
	return func(q question) [][]byte {
		m := answerOf(q, rightRule)
		change(m)
		m.Compress = true
		return [][]byte{pack(m)}
	}
}

func slicesOf(data []byte, n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = data
	}
	return all
}

// fails requests a resource that a failure makes unavailable: the response is an error, within the patience of
// a payload.
func (s *stage) fails(name, target string) payload {
	return payload{name: name, section: "RFC 1035 section 7.3", shows: name, play: func(ctx context.Context) error {
		got, err := get(ctx, s.service, friend, target, "Accept: text/html")
		switch {
		case err != nil:
			return err
		case got.status < 400 || got.status == 500:
			return fmt.Errorf("it is answered %d, Location %q: %.200q", got.status,
				got.header.Get("Location"), got.body)
		case len(got.body) > 16<<10:
			return fmt.Errorf("the error has %d bytes", len(got.body))
		case strings.Contains(got.body, "<script>alert"):
			return errors.New("the error has markup of the DNS")
		default:
			return nil
		}
	}}
}

// failingRecords are records that are invalid, dangling or circular: RFC 3403, RFC 2782.
func (s *stage) failingRecords() []payload {
	var payloads []payload
	add := func(name string, records ...string) {
		nid := s.id()
		for i := range records {
			records[i] = strings.ReplaceAll(records[i], "{self}", nid+"."+zoneRoot)
		}
		s.dns.has(nid+"."+zoneRoot, records...)
		payloads = append(payloads, s.fails(name, "/urn:"+nid+":a"))
	}
	naptr := func(flags, services, expression, replacement string) string {
		return fmt.Sprintf(`60 IN NAPTR 1 1 "%s" "%s" "%s" %s`, flags, services, masterFile(expression), replacement)
	}
	for _, flags := range []string{"x", "su", "uu", "\\000", "1", "ss", "p"} {
		add("the flags "+flags, naptr(flags, "http+N2L", "!^.*$!http://a.example/!", "."))
	}
	for _, services := range []string{
		"+", "++", "http++N2L", "http+N2L+", "\\000", "N2L+http",
		"http+" + strings.Repeat("a", 200), "gopher+N2X",
	} {
		add("the services "+services[:min(len(services), 12)], naptr("s", services, "", "_x._tcp.nowhere.example."))
	}
	for _, expression := range []string{
		"!", "!!", "!!!", "!a", "!^.*$!", "!^.*$!a!!", "!(!a!", "!)!a!", "![!a!", "![[:x:]]!a!", "![[=a=]]!a!",
		"!a{2,1}!a!", "!a{99999}!a!", "!a**!a!", "!*!a!", "!^.*$!\\9!", "!^(.*)$!\\2!", "!^.*$!a\\", "iaiai",
		"\\a\\b\\", "1a1b1", "!\x00!\x00!",
		"!\xff!\xff!", "!^.*$!http://a/!z", "!(?P<a>x)!a!", "!(?i)x!a!", "!\\d+!a!",
	} {
		add(fmt.Sprintf("the expression %q", expression), naptr("u", "http+N2L", expression, "."))
	}
	add("an expression and a replacement", naptr("u", "http+N2L", "!^.*$!http://a.example/!", "a.example."))
	add("neither expression nor replacement", naptr("u", "http+N2L", "", "."))
	add("a rule that leads to itself", naptr("", "", "", "{self}"))
	add("a rule that leads to itself by an expression", naptr("", "", "!^.*$!{self}!", "."))
	add("a rule to a name that is none", naptr("", "", "!^.*$!a..b!", "."))
	add("a rule to a number", naptr("", "", "!^.*$!127.0.0.1!", "."))
	add("200 rules that do not match",
		strings.Split(strings.Repeat(naptr("u", "http+N2L", "!^x$!http://a.example/!", ".")+"\n", 199)+naptr("u",
			"http+N2L", "!^y$!http://a.example/!", "."), "\n")...)
	for name, srv := range map[string][]string{
		"no target": {"60 IN SRV 0 0 0 ."}, "port 0": {"60 IN SRV 0 0 0 {host}"},
		"a target that is a number": {"60 IN SRV 0 0 80 1.2.3.4."},
		"a target that is itself":   {"60 IN SRV 0 0 80 {self}"}, "none": nil,
		"1000 targets": strings.Split(strings.TrimSuffix(manyTargets(1000), "\n"), "\n"),
	} {
		server := s.id() + ".servers.example."
		for i := range srv {
			srv[i] = strings.NewReplacer("{self}", "_thttp._tcp."+server, "{host}", server).Replace(srv[i])
		}
		s.dns.has("_thttp._tcp."+server, srv...)
		s.dns.has(server, "60 IN A "+originHost)
		add("a server with "+name, naptr("s", "thttp+N2L", "", "_thttp._tcp."+server))
	}
	payloads = append(payloads, s.tree())
	return inFamily("records", payloads)
}

func manyTargets(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "60 IN SRV %d 0 1 t%d.nowhere.example.\n", i, i)
	}
	return text.String()
}

// tree delegates each domain to ten others: RFC 3402 has no limit, urnd has.
func (s *stage) tree() payload {
	var requested atomic.Int64
	nid := s.id()
	for depth := range 8 {
		name := nid + "." + zoneRoot
		for range depth {
			name = "x." + name
		}
		s.dns.on(name, func(q question) [][]byte {
			requested.Add(1)
			var rules []string
			for i := range 10 {
				rules = append(rules, fmt.Sprintf(`60 IN NAPTR 1 %d "" "" "" x.%s`, i, q.name()))
			}
			return recordsOf(rules...)(q)
		})
	}
	p := s.fails("a tree of rules", "/urn:"+nid+":a")
	play := p.play
	p.play = func(ctx context.Context) error {
		if err := play(ctx); err != nil {
			return err
		}
		if n := requested.Load(); n > 100 {
			return fmt.Errorf("the DNS was asked %d times for one name", n)
		}
		return nil
	}
	return p
}
