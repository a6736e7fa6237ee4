package adversary

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"

	"github.com/miekg/dns"
)

// Correct and forged answer for a name.
const (
	rightRule  = `60 IN NAPTR 1 1 "u" "http+N2L" "!^.*$!https://right.example/!" .`
	forgedRule = `60 IN NAPTR 1 1 "u" "http+N2L" "!^.*$!https://forged.example/!" .`
)

// forgery converts an acceptable response to a forged one by modifying the bytes of the message.
type forgery struct {
	name, section string
	change        func(m *dns.Msg)
	bytes         func(wire []byte) []byte
	// empty is set if it is a response to the query without an answer: then the name may not exist.
	empty bool
}

// forgeries are responses that a client must not accept for its query: RFC 5452 sections 4 and 9.1, RFC 1035
// section 4.1.
func forgeries() []forgery {
	var all []forgery
	add := func(name, section string, change func(m *dns.Msg)) {
		all = append(all, forgery{name: name, section: section, change: change})
	}
	empty := func(name, section string, change func(m *dns.Msg)) {
		all = append(all, forgery{name: name, section: section, change: change, empty: true})
	}
	cut := func(name, section string, bytes func(wire []byte) []byte) {
		all = append(all, forgery{name: name, section: section, bytes: bytes})
	}
	add("the next id", "RFC 5452 section 9.1", func(m *dns.Msg) { m.Id++ })
	add("the id 0", "RFC 5452 section 9.1", func(m *dns.Msg) { m.Id ^= 0xffff })
	add("the bytes of the id swapped", "RFC 5452 section 9.1", func(m *dns.Msg) { m.Id = m.Id<<8 | m.Id>>8 ^ 1 })
	add("a question, not a reply", "RFC 1035 section 4.1.1", func(m *dns.Msg) { m.Response = false })
	add("no question", "RFC 5452 section 9.1", func(m *dns.Msg) { m.Question = nil })
	add("two questions", "RFC 9619", func(m *dns.Msg) { m.Question = append(m.Question, m.Question[0]) })
	add("another name", "RFC 5452 section 9.1", func(m *dns.Msg) { m.Question[0].Name = "other." + zoneRoot })
	add("the name of the parent", "RFC 5452 section 9.1", func(m *dns.Msg) { m.Question[0].Name = zoneRoot })
	add("another type", "RFC 5452 section 9.1", func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeA })
	add("the type ANY", "RFC 5452 section 9.1", func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeANY })
	add("another class", "RFC 5452 section 9.1", func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS })
	empty("records of another name", "RFC 5452 section 6",
		func(m *dns.Msg) { m.Answer[0].Header().Name = "other." + zoneRoot })
	empty("records of another class", "RFC 1035 section 3.2.4",
		func(m *dns.Msg) { m.Answer[0].Header().Class = dns.ClassCHAOS })
	empty("records in the additional section", "RFC 5452 section 6",
		func(m *dns.Msg) { m.Extra, m.Answer = m.Answer, nil; m.Ns = []dns.RR{} })
	empty("records in the authority section", "RFC 5452 section 6", func(m *dns.Msg) { m.Ns, m.Answer = m.Answer, nil })
	add("an update", "RFC 2136 section 2.2", func(m *dns.Msg) { m.Opcode = dns.OpcodeUpdate })
	add("a notification", "RFC 1996 section 3", func(m *dns.Msg) { m.Opcode = dns.OpcodeNotify })
	add("an opcode that is not there", "RFC 6895 section 2.2", func(m *dns.Msg) { m.Opcode = 15 })
	for name, offset := range map[string]int{"questions": 4, "answers": 6, "authorities": 8, "additionals": 10} {
		for _, change := range []int{1, -1, 2, 1000} {
			if offset >= 8 && change < 0 {
				continue
			}
			cut(fmt.Sprintf("%+d %s in the header", change, name), "RFC 1035 section 4.1.1", func(wire []byte) []byte {
				binary.BigEndian.PutUint16(wire[offset:], uint16(int(binary.BigEndian.Uint16(wire[offset:]))+change))
				return wire
			})
		}
	}
	cut("bytes behind the message", "RFC 1035 section 4.1",
		func(wire []byte) []byte { return append(wire, "evil"...) })
	cut("a byte less", "RFC 1035 section 4.1", func(wire []byte) []byte { return wire[:len(wire)-1] })
	cut("half of the message", "RFC 1035 section 4.1", func(wire []byte) []byte { return wire[:len(wire)/2] })
	cut("the header alone", "RFC 1035 section 4.1.1", func(wire []byte) []byte { return wire[:12] })
	cut("less than a header", "RFC 1035 section 4.1.1", func(wire []byte) []byte { return wire[:7] })
	cut("nothing", "RFC 1035 section 4.1.1", func([]byte) []byte { return nil })
	cut("a name that points to itself", "RFC 1035 section 4.1.4",
		func(wire []byte) []byte { wire[12], wire[13] = 0xc0, 12; return wire })
	cut("a label of 64 bytes", "RFC 1035 section 4.1.4", func(wire []byte) []byte { wire[12] = 0x40; return wire })
	cut("nonsense", "RFC 1035 section 4.1",
		func(wire []byte) []byte { return append(wire[:2], "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"...) })
	return all
}

// forge returns the bytes of a forged response.
func (f forgery) forge(q question) []byte {
	m := answerOf(q, forgedRule)
	if f.change != nil {
		f.change(m)
	}
	wire := pack(m)
	if f.bytes != nil {
		wire = f.bytes(wire)
	}
	return wire
}

// forgedReplies send each forgery before the correct response, over UDP and TCP.
func (s *stage) forgedReplies() []payload {
	var payloads []payload
	add := func(name, section string, empty bool, script answering) {
		nid := s.id()
		s.dns.on(nid+"."+zoneRoot, script)
		payloads = append(payloads,
			payload{name: name, section: section, shows: name, play: func(ctx context.Context) error {
				if empty {
					return s.notForged(ctx, nid)
				}
				return s.resolvesRight(ctx, nid)
			}})
	}
	for _, f := range forgeries() {
		both := func(q question) [][]byte { return [][]byte{f.forge(q), pack(answerOf(q, rightRule))} }
		add(f.name, f.section, f.empty, both)
		if f.name == "nothing" {
			continue // over TCP a message has a length
		}
		add(f.name+", over TCP", f.section, f.empty, func(q question) [][]byte {
			if q.tcp {
				return both(q)
			}
			m := answerOf(q)
			m.Truncated = true
			return [][]byte{pack(m)}
		})
	}
	for _, from := range []string{"127.0.0.1:0", "127.0.0.9:0"} {
		add("a reply from "+from, "RFC 5452 section 9.1", false, func(q question) [][]byte {
			if other, err := net.ListenPacket("udp", from); err == nil {
				_, _ = other.WriteTo(forgery{}.forge(q), q.from)
				other.Close()
			}
			return [][]byte{pack(answerOf(q, rightRule))}
		})
	}
	add("the name in capitals", "RFC 4343 section 3", false, func(q question) [][]byte {
		m := answerOf(q, rightRule)
		m.Question[0].Name = "P" + m.Question[0].Name[1:]
		return [][]byte{pack(m)}
	})
	return inFamily("forged replies", payloads)
}

// notForged returns an error if a name has the forged location.
func (s *stage) notForged(ctx context.Context, nid string) error {
	got, err := get(ctx, s.service, stranger, "/urn:"+nid+":a")
	if err == nil && got.status < 400 && got.header.Get("Location") != "https://right.example/" {
		err = fmt.Errorf("it is answered %d, Location %q", got.status, got.header.Get("Location"))
	}
	return err
}

// resolvesRight returns an error unless a name has the correct location.
func (s *stage) resolvesRight(ctx context.Context, nid string) error {
	got, err := get(ctx, s.service, stranger, "/urn:"+nid+":a")
	if err == nil && got.header.Get("Location") != "https://right.example/" {
		err = fmt.Errorf("it is answered %d, Location %q: %.200q", got.status, got.header.Get("Location"), got.body)
	}
	return err
}
