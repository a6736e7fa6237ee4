package ddds

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/miekg/dns"
)

// A forged reply must repeat the name of the question. Where each letter of that is of random
// case, it must guess them all, in addition to the port and the identifier:
// draft-vixie-dnsext-dns0x20-00. Most servers keep the case of the question; with those that do
// not, it is not used.

// errCase means that a reply repeats the name of the question in another case: it is forged, or
// the server does not keep the case.
var errCase = errors.New("its reply repeats the name in another case")

// sameCaseFor is how long a server that does not keep the case is asked in lower case.
const sameCaseFor = 15 * time.Minute

// mixesCase reports whether questions to a server have letters of random case. TLS needs none.
func (c *Client) mixesCase(s *server) bool {
	if !c.config.MixCase || s.TLS {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !c.config.Now().Before(s.sameCaseUntil)
}

// setSameCase records that a server does not keep the case.
func (s *server) setSameCase(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sameCaseUntil = now.Add(sameCaseFor)
}

// exchangeCase exchanges a question for a reply whose case is that of the question, or that of a
// server that does not keep it. A reply by UDP in another case may be forged, so the server is asked
// over TCP, by which none can be. Where that has another case too, or there is no TCP, it is the
// server that does not keep the case. The text says what was needed.
func (c *Client) exchangeCase(ctx context.Context, network string, s *server, question *dns.Msg) (reply *dns.Msg, repeats string, err error) {
	reply, err = c.exchange(ctx, network, s, question)
	if !errors.Is(err, errCase) {
		return reply, "", err
	}
	if network == "udp" {
		repeats = errCase.Error() + ", again over TCP: "
		half, cancel := context.WithTimeout(ctx, c.config.Timeout/2) // something may drop what goes to TCP
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
		if 'a' <= c && c <= 'z' && rand.Uint32()&1 == 1 { //nolint:gosec // it is seeded by the system, as crypto/rand is
			name[i] = c - 'a' + 'A'
		}
	}
	mixed.Question[0].Name = string(name)
	return &mixed
}
