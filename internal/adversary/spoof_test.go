package adversary

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// spoofing are attempts to impersonate another client or server. They must not grant privileges, nor change any
// response.
func spoofing(s *stage) []payload {
	return slices.Concat(
		s.forwardedClients(), s.proxyProtocol(), s.foreignHosts(), s.ownHosts(), s.adminHosts(), s.vias(),
		s.forgedReplies(), s.poisonedReplies(), s.otherSites(), s.injections(), s.openRedirects(), s.leaks(),
		s.mixedCase(),
	)
}

// privileged is a request reserved for clients of the proxy: 302, and 403 for others.
const privileged = "/http://a.example/"

// claim is a request of a client with fields that make a false claim.
type claim struct {
	name, section, from, method, target, body string
	fields                                    []string
	want                                      int // expected status
}

// claims converts claims to payloads, for the service or a separate address.
func (s *stage) claims(family string, address func() string, all []claim) []payload {
	var payloads []payload
	for _, c := range all {
		if c.method == "" {
			c.method = "GET"
		}
		shows := fmt.Sprintf("from %s: %s %s %s", c.from, c.method, c.target, strings.Join(c.fields, " | "))
		payloads = append(payloads,
			payload{name: c.name, section: c.section, shows: shows, play: func(ctx context.Context) error {
				got, err := ask(ctx, address(), c.from, c.method, c.target, c.body, c.fields...)
				if err == nil && got.status != c.want {
					err = fmt.Errorf("it is answered %d, not %d: %.200q", got.status, c.want, got.body)
				}
				return err
			}})
	}
	return inFamily(family, payloads)
}

// serviceAddress is the address of the service.
func (s *stage) serviceAddress() string { return s.service }
