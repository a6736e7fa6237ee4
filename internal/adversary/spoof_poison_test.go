package adversary

import (
	"context"
	"fmt"

	"github.com/miekg/dns"
)

// poisonedReplies are correct responses with additional, unsolicited records of other names (RFC 5452 section
// 6, RFC 2181 section 5.4.1), which must be ignored.
func (s *stage) poisonedReplies() []payload {
	var payloads []payload
	for name, place := range map[string]func(m *dns.Msg, rr ...dns.RR){
		"additional": func(m *dns.Msg, rr ...dns.RR) { m.Extra = append(m.Extra, rr...) },
		"authority":  func(m *dns.Msg, rr ...dns.RR) { m.Ns = append(m.Ns, rr...) },
		"answer":     func(m *dns.Msg, rr ...dns.RR) { m.Answer = append(m.Answer, rr...) },
	} {
		host, nid, victim := s.id()+".hosts.example.", s.id(), s.id()
		poison := []dns.RR{record(host + " 600 IN A " + originHost), record(victim + "." + zoneRoot + " " + forgedRule)}
		s.dns.on(nid+"."+zoneRoot, func(q question) [][]byte {
			m := answerOf(q, rightRule)
			place(m, poison...)
			return [][]byte{pack(m)}
		})
		s.dns.has(victim+"."+zoneRoot, rightRule)
		payloads = append(payloads, payload{
			name: "records of others in the " + name + " section", section: "RFC 5452 section 6",
			shows: fmt.Sprint(poison),
			play: func(ctx context.Context) error {
				if err := s.resolvesRight(ctx, nid); err != nil {
					return err
				}
				if err := s.resolvesRight(ctx, victim); err != nil {
					return fmt.Errorf("another namespace: %w", err)
				}
				got, err := s.forwardTo(ctx, "http://"+host+":"+portOf(s.origin.address)+"/")
				if err == nil && got.status < 400 {
					err = fmt.Errorf("a host that does not exist is answered %d", got.status)
				}
				return err
			},
		})
	}
	return inFamily("poisoned replies", payloads)
}

// record parses a record in master file format.
func record(text string) dns.RR {
	rr, err := dns.NewRR(text)
	if err != nil {
		panic(err) // error in a payload
	}
	return rr
}
