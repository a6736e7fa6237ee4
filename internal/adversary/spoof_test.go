package adversary

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// spoofing are claims to be somebody else, or to speak for somebody else. They must give no
// rights, and change no answer.
func spoofing(s *stage) []payload {
	return slices.Concat(
		s.forwardedClients(), s.proxyProtocol(), s.foreignHosts(), s.ownHosts(), s.adminHosts(), s.vias(),
		s.forgedReplies(), s.poisonedReplies(), s.otherSites(), s.injections(), s.openRedirects(), s.leaks(), s.mixedCase(),
	)
}

// privileged is a request that only clients of the proxy may send: 302, and 403 to others.
const privileged = "/http://a.example/"

// claim is a request with fields that claim something, from a client.
type claim struct {
	name, section, from, method, target, body string
	fields                                    []string
	want                                      int // the status
}

// claims turns claims into payloads, to the service or to an address of its own.
func (s *stage) claims(family string, address func() string, all []claim) []payload {
	var payloads []payload
	for _, c := range all {
		if c.method == "" {
			c.method = "GET"
		}
		shows := fmt.Sprintf("from %s: %s %s %s", c.from, c.method, c.target, strings.Join(c.fields, " | "))
		payloads = append(payloads, payload{name: c.name, section: c.section, shows: shows, play: func(ctx context.Context) error {
			got, err := ask(ctx, address(), c.from, c.method, c.target, c.body, c.fields...)
			if err == nil && got.status != c.want {
				err = fmt.Errorf("it is answered %d, not %d: %.200q", got.status, c.want, got.body)
			}
			return err
		}})
	}
	return inFamily(family, payloads)
}

// serviceAddress is where names are asked for.
func (s *stage) serviceAddress() string { return s.service }
