package adversary

import (
	"context"
	"fmt"
	"strings"
)

// openRedirects try to redirect others to an arbitrary site without authorization (RFC 9110 section 17.16.1,
// CWE-601).
func (s *stage) openRedirects() []payload {
	var payloads []payload
	for _, target := range []string{
		"/http://evil.example/", "/https://evil.example/", "//evil.example/", "///evil.example/", "/\\evil.example/",
		"/%5cevil.example/",
		"/%2f%2fevil.example/", "/http:evil.example", "/http:/evil.example/", "/HTTP://evil.example/",
		"/%68ttp://evil.example/", "/http%3a//evil.example/",
		"/http%3A%2F%2Fevil.example%2F",
		"/?uri=http://evil.example/", "/?uri=http%3A%2F%2Fevil.example%2F", "/?uri=//evil.example/",
		"/uri-res/N2L?http://evil.example/",
		"/uri-res/N2Ls?http://evil.example/", "/uri-res/N2R?http://evil.example/", "http://evil.example/",
		"/ftp://evil.example/", "/?uri=evil.example", "/?uri=www.evil.example/", "/.evil.example/", "/@evil.example/",
		"/mailto:a@evil.example", "/?url=http://evil.example/", "/?next=//evil.example", "/urn:plain:..//evil.example",
		"/urn:plain:%2f%2fevil.example",
		"/urn:plain:@evil.example", "/%E2%80%A8http://evil.example/", "/%09http://evil.example/",
		"/%20http://evil.example/",
		"/urn:uuid:http://evil.example/", "/<URL:http://evil.example/>",
	} {
		payloads = append(payloads,
			payload{
				name: target, section: "RFC 9110 section 17.16.1", shows: "GET " + target,
				play: func(ctx context.Context) error {
					got, err := get(ctx, s.service, stranger, target)
					if err != nil {
						return err
					}
					location := got.header.Get("Location")
					if got.status < 400 && strings.Contains(location, "evil") &&
						!strings.HasPrefix(location, "https://a.example/") {
						return fmt.Errorf("it is answered %d, Location %q", got.status, location)
					}
					return nil
				},
			})
	}
	return inFamily("open redirects", payloads)
}

// leaks search for information that clients must not get: internal addresses in errors (CWE-209). Connections
// to port 1 are permitted, but refused.
func (s *stage) leaks() []payload {
	var payloads []payload
	for _, internal := range []string{
		"10.11.12.13", "192.168.77.88", "127.0.0.7", "fd00::77", "169.254.169.254",
		originHost,
	} {
		host, nid := s.id()+".hosts.example", s.id()
		s.dns.has(host, "60 IN "+address(internal))
		server := nid + ".servers.example."
		s.dns.has(nid+"."+zoneRoot, `60 IN NAPTR 1 1 "s" "thttp+N2L" "" _thttp._tcp.`+server)
		s.dns.has("_thttp._tcp."+server, "60 IN SRV 0 0 1 "+server)
		s.dns.has(server, "60 IN "+address(internal))
		for _, target := range []string{
			"http://" + host + ":1/", "/urn:" + nid + ":a",
			"/api/v1/resolve?uri=urn:" + nid + ":a",
		} {
			from := friend
			if target[0] == '/' {
				from = stranger
			}
			payloads = append(payloads, payload{
				name: "the address " + internal + " for " + target, section: "CWE-209", shows: "GET " + target,
				play: func(ctx context.Context) error {
					got, err := get(ctx, s.service, from, target)
					if err == nil && strings.Contains(got.body, internal) {
						err = fmt.Errorf("the error shows it: %.300q", got.body)
					}
					return err
				},
			})
		}
	}
	return inFamily("leaks", payloads)
}
