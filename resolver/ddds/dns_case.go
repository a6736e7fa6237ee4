package ddds

import (
	"errors"
	"math/rand/v2"
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

// mixCase changes the case of each letter of the question at random.
func mixCase(question *dns.Msg) {
	name := []byte(question.Question[0].Name)
	for i, c := range name {
		if 'a' <= c && c <= 'z' && rand.Uint32()&1 == 1 { //nolint:gosec // it is seeded by the system, as crypto/rand is
			name[i] = c - 'a' + 'A'
		}
	}
	question.Question[0].Name = string(name)
}
