package adversary

import (
	"context"
	"errors"
	"strings"
)

// foreignNames are host names that resolve to this machine in the browser of an authorized user: DNS rebinding
// (RFC 9110 section 7.4).
func foreignNames() []string {
	return []string{
		"evil.example", "evil.example:8141", "127.0.0.1.evil.example", "127.0.0.1.nip.io", "localhost.evil.example",
		"evil", "127.0.0.1@evil.example", "xn--lcalhost-m1b", "2130706433", "0x7f000001", "127.1",
	}
}

// foreignHosts try to use the privileges of loopback with a foreign host name.
func (s *stage) foreignHosts() []payload {
	nid := s.id()
	s.dns.has(nid+"."+zoneRoot, `60 IN NAPTR 1 1 "u" "http+N2L" "!^.*$!http://`+s.origin.address+`/!" .`)
	var all []claim
	for _, target := range []string{privileged, "/?uri=http://a.example/", "/uri-res/N2R?urn:" + nid + ":a"} {
		for _, host := range foreignNames()[:5] {
			all = append(all, claim{
				name: target + " of " + host, section: "RFC 9110 section 7.4", from: friend, target: target,
				fields: []string{"Host: " + host}, want: 403,
			})
		}
	}
	all = append(all,
		claim{
			name: "a name of anybody", section: "RFC 9110 section 7.4", from: friend, target: "/urn:ietf:rfc:2648",
			fields: []string{"Host: urn.library.example"}, want: 302,
		},
		claim{
			name: "localhost", section: "RFC 6761 section 6.3", from: friend, target: privileged,
			fields: []string{"Host: localhost"}, want: 302,
		},
	)
	payloads := s.claims("foreign hosts", s.serviceAddress, all)
	batch := payload{
		family: "foreign hosts", name: "URLs in a batch", section: "RFC 9110 section 7.4",
		shows: "POST /api/v1/resolve, Host: evil.example",
	}
	batch.play = func(ctx context.Context) error {
		got, err := ask(ctx, s.service, friend, "POST", "/api/v1/resolve", `["http://a.example/"]`,
			"Host: evil.example", "Content-Type: application/json")
		if err == nil && strings.Contains(got.body, `"locations"`) {
			err = errors.New("the URL is resolved: " + got.body)
		}
		return err
	}
	return append(payloads, batch)
}

// adminHosts send requests with foreign host names to the admin interface.
func (s *stage) adminHosts() []payload {
	var all []claim
	for _, host := range foreignNames() {
		if host == "127.0.0.1@evil.example" { // net/http rejects it
			continue
		}
		all = append(all, claim{
			name: "the host " + host, section: "RFC 9110 section 7.4", from: friend, target: "/metrics",
			fields: []string{"Host: " + host}, want: 421,
		})
	}
	for _, target := range []string{"/metrics", "/api/v1/config", "/debug/pprof/cmdline", "/api/v1/cache"} {
		for _, field := range []string{
			"Via: 1.1 a", "Via: 1.1 urnd-x", "Forwarded: for=127.0.0.1", "X-Forwarded-For: 127.0.0.1", "Forwarded: ",
			"X-Forwarded-For: ",
		} {
			all = append(all, claim{
				name: target + " with " + field, section: "RFC 9110 section 7.6.3", from: friend, target: target,
				fields: []string{field},
				want:   403,
			})
		}
		all = append(all, claim{
			name: target + " of evil.example", section: "RFC 9110 section 7.4", from: friend, target: target,
			fields: []string{"Host: evil.example"}, want: 421,
		})
	}
	for _, field := range []string{
		"Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site",
		"Sec-Fetch-Site: same-site",
	} {
		for _, method := range []string{"DELETE", "POST"} {
			want := 403
			all = append(all, claim{
				name: method + " with " + field, section: "Fetch section 3.2", from: friend, method: method,
				target: "/api/v1/cache/entries?all=true", fields: []string{field}, want: want,
			})
		}
	}
	all = append(all, claim{
		name: "an administrator", section: "RFC 9110 section 7.4", from: friend, target: "/metrics",
		want: 200,
	})
	return s.claims("admin", func() string { return s.admin }, all)
}
