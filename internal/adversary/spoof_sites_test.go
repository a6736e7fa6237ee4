package adversary

import (
	"context"
	"fmt"
	"strings"
)

// otherSites are cross-site requests in the browser of an authorized user (Fetch standard section 3.2;
// cross-site request forgery).
func (s *stage) otherSites() []payload {
	var payloads []payload
	const evil = "Origin: http://evil.example"
	add := func(name, method, target, body string, fields []string, check func(reply) error) {
		payloads = append(payloads, payload{
			name: name, section: "Fetch section 3.2", shows: method + " " + target + " " + strings.Join(fields, " | "),
			play: func(ctx context.Context) error {
				got, err := ask(ctx, s.service, friend, method, target, body, fields...)
				if err != nil {
					return err
				}
				if got.header.Get("Access-Control-Allow-Credentials") != "" {
					return fmt.Errorf("credentials are allowed to other sites")
				}
				return check(got)
			},
		})
	}
	unreadable := func(r reply) error {
		if origin := r.header.Get("Access-Control-Allow-Origin"); origin != "" {
			return fmt.Errorf("%s may read the reply %d", origin, r.status)
		}
		return nil
	}
	for _, origin := range []string{
		evil, "Origin: null", "Origin: *", "Origin: http://127.0.0.1", "Origin: file://",
		"Origin: http://evil.example\t",
	} {
		fields := []string{origin}
		add("the redirect of a URL to "+origin, "GET", privileged, "", fields, unreadable)
		add("a page through the proxy to "+origin, "GET", "http://"+s.origin.address+"/", "", fields, unreadable)
		add("a resource to "+origin, "GET", "/uri-res/N2R?urn:ietf:rfc:2648", "", fields, unreadable)
		add("URLs in a batch to "+origin, "POST", "/api/v1/resolve", `["http://a.example/"]`,
			append(fields, "Content-Type: text/plain"), func(r reply) error {
				if strings.Contains(r.body, `"locations"`) {
					return fmt.Errorf("the URL is resolved: %s", r.body)
				}
				return nil
			})
	}
	for _, target := range []string{
		privileged, "http://" + s.origin.address + "/p/preflight",
		"/uri-res/N2R?urn:ietf:rfc:2648",
	} {
		for _, method := range []string{"GET", "DELETE", "PUT"} {
			add("a preflight for "+method+" "+target, "OPTIONS", target, "", []string{
				evil, "Access-Control-Request-Method: " + method,
				"Access-Control-Request-Headers: authorization",
			}, unreadable)
		}
	}
	add("a private network", "OPTIONS", privileged, "", []string{
		evil, "Access-Control-Request-Method: GET",
		"Access-Control-Request-Private-Network: true",
	}, func(r reply) error {
		if r.header.Get("Access-Control-Allow-Private-Network") != "" {
			return fmt.Errorf("a private network is opened to other sites")
		}
		return nil
	})
	return inFamily("other sites", payloads)
}
