package ddds

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/miekg/dns"
)

// A forged reply must repeat the name of the question. If the case of each of its letters is random, the
// attacker must guess the case too, besides the port and the identifier: draft-vixie-dnsext-dns0x20-00. Most
// servers preserve the case of the question; for others it is not randomized.

// errCase means that a reply repeats the name of the question in another case: it is forged, or the server does
// not preserve the case.
var errCase = errors.New("reply with the name in a different case")

// sameCaseFor is how long a server that does not preserve the case is queried in lower case.
const sameCaseFor = 15 * time.Minute

// mixesCase reports whether questions to a server have random case. TLS does not need it.
func (c *Client) mixesCase(s *server) bool {
	if !c.config.MixCase || s.TLS {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !c.config.Now().Before(s.sameCaseUntil)
}

// setSameCase records that a server does not preserve the case.
func (s *server) setSameCase(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sameCaseUntil = now.Add(sameCaseFor)
}

// exchangeCase sends a question and returns a reply in the case of the question, or the reply of a server that
// does not preserve the case. A reply over UDP in another case may be forged, so the question is repeated over
// TCP, where replies cannot be forged. If the reply over TCP has another case too, or TCP fails, the server
// does not preserve the case, and is queried in lower case. repeats describes the additional exchanges for the
// trace.
func (c *Client) exchangeCase(
	ctx context.Context, network string, s *server, question *dns.Msg,
) (reply *dns.Msg, repeats string, err error) {
	reply, err = c.exchange(ctx, network, s, question)
	if !errors.Is(err, errCase) {
		return reply, "", err
	}
	if network == "udp" {
		repeats = errCase.Error() + ", again over TCP: "
		half, cancel := context.WithTimeout(ctx, c.config.Timeout/2) // a firewall may drop TCP
		reply, err = c.exchange(half, "tcp", s, question)
		cancel()
		if err == nil || ctx.Err() != nil {
			return reply, repeats, err
		}
		if errors.Is(err, errCase) {
			network = "tcp"
		}
	}
	s.setSameCase(c.config.Now())
	reply, err = c.exchange(ctx, network, s, question)
	return reply, repeats + "in lower case: ", err
}

// mixCase returns a copy of a question in which the case of each letter is random.
func mixCase(question *dns.Msg) *dns.Msg {
	mixed := *question
	mixed.Question = slices.Clone(question.Question)
	name := []byte(question.Question[0].Name)
	for i, c := range name {
		if 'a' <= c && c <= 'z' && rand.Uint32()&1 == 1 { //nolint:gosec // seeded by the system, like crypto/rand
			name[i] = c - 'a' + 'A'
		}
	}
	mixed.Question[0].Name = string(name)
	return &mixed
}
