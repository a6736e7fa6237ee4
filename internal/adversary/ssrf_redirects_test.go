package adversary

import (
	"context"
	"fmt"
	"strings"
)

// redirected let an origin and a namespace server redirect urnd to the canary. A redirect of an origin is for
// the client; urnd follows none.
func (s *stage) redirected() []payload {
	var payloads []payload
	inside := "http://127.0.0.1:" + s.canary.port + "/"
	for _, status := range []int{300, 301, 302, 303, 305, 306, 307, 308, 201, 200} {
		for _, field := range []string{
			"Location: " + inside, "Location: //127.0.0.1:" + s.canary.port, "Refresh: 0;url=" + inside,
			"Alt-Svc: h2=\"127.0.0.1:" + s.canary.port + "\"", "Content-Location: " + inside,
		} {
			id := s.id()
			s.origin.on("/p/"+id,
				respond(fmt.Sprintf("HTTP/1.1 %d X\r\n%s\r\nContent-Length: 0\r\n\r\n", status, field)))
			if field[0] != 'L' && status != 200 {
				continue
			}
			target := "http://" + s.origin.address + "/p/" + id
			payloads = append(payloads, payload{
				name: fmt.Sprintf("%d with %.20s", status, field), section: "RFC 9110 section 15.4", shows: field,
				play: func(ctx context.Context) error {
					got, err := s.forwardTo(ctx, target)
					if err == nil && got.status != status && got.status != 502 {
						return fmt.Errorf("it is answered %d", got.status)
					}
					return err
				},
			})
		}
	}
	for _, location := range []string{
		inside, "//127.0.0.1:" + s.canary.port + "/", "http://[::1]:" + s.canary.port + "/",
		"http://2130706433:" + s.canary.port + "/", "file:///etc/passwd", "gopher://127.0.0.1:" + s.canary.port + "/_x",
	} {
		urn := "urn:held:" + s.id()
		for _, service := range []string{"N2R", "N2Rs", "N2L", "N2Ls"} {
			s.origin.on("/uri-res/"+service+"?"+urn,
				respond("HTTP/1.1 302 Found\r\nLocation: "+location+"\r\nContent-Length: 0\r\n\r\n"))
		}
		for _, service := range []string{"N2R", "N2Rs"} {
			target := "/uri-res/" + service + "?" + urn
			payloads = append(payloads, payload{
				name: service + " of a name that is at " + location, section: "RFC 2169 section 3",
				shows: "Location: " + location, play: func(ctx context.Context) error {
					return destination{location, location == inside}.wantRefusal(get(ctx, s.service, friend, target))
				},
			})
		}
	}
	return inFamily("redirects inside", payloads)
}

// schemes request URIs of other schemes that have been used in such attacks.
func (s *stage) schemes() []payload {
	var payloads []payload
	at := "//127.0.0.1:" + s.canary.port + "/"
	for _, uri := range []string{
		"file:///etc/passwd", "file://localhost/etc/passwd", "ftp:" + at, "ftps:" + at, "sftp:" + at, "tftp:" + at,
		"gopher:" + at + "_GET%20/%0d%0a", "dict:" + at + "d:a", "ldap:" + at, "ldaps:" + at, "imap:" + at,
		"smtp:" + at, "telnet:" + at, "ssh:" + at,
		"redis:" + at, "memcached:" + at, "jar:http:" + at + "!/a", "netdoc:///etc/passwd",
		"unix:///run/urnd/admin.sock",
		"http+unix://%2frun%2furnd.sock/", "ws:" + at, "wss:" + at, "nntp:" + at, "wais:" + at + "db",
		"view-source:http:" + at, "data:text/html,a", "https:" + at,
	} {
		payloads = append(payloads,
			payload{
				name: uri, section: "RFC 3986 section 7.6", shows: "GET " + uri,
				play: func(ctx context.Context) error {
					got, err := s.forwardTo(ctx, uri)
					if got.status == 502 || got.status == 504 {
						return fmt.Errorf("urnd tried to connect: %d", got.status)
					}
					explained := strings.HasPrefix(uri, "telnet:") || strings.HasPrefix(uri, "ftps:")
					if explained && got.status == 200 && strings.Contains(got.body, "no connection was opened") {
						return nil // a page explains the URI
					}
					return destination{uri, false}.wantRefusal(got, err)
				},
			})
	}
	return inFamily("other schemes", payloads)
}
