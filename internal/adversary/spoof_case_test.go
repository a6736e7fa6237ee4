package adversary

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// caseConfig is the additional configuration of withCases.
const caseConfig = `
registry: {store: 'sqlite:%[1]s', hosts: [purl.example]}
proxy:
  sites: [{hosts: [site.example], servers: ['http://%[2]s']}]
  rules: [{id: denied, action: deny, hosts: [denied.example, .denied.test]}]
`

// caseToken is the administrators' token of the daemon for mixed case.
const caseToken = "The Right Token of Administrators"

// withCases returns a function that starts a daemon with a web host, a site, a rule and a token.
func (s *stage) withCases() func() (*daemon, error) {
	return sync.OnceValues(func() (*daemon, error) {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		store, token := filepath.Join(s.directory, "case.db"), filepath.Join(s.directory, "case.token")
		if err := os.WriteFile(token, []byte(caseToken), 0o600); err != nil {
			return nil, err
		}
		set := exec.CommandContext(ctx, s.binary, "registry", "set", "--prefix", "https://purl.example/p/", inside,
			"--redirect", "301")
		set.Env = append(set.Environ(), "URND_REGISTRY_STORE=sqlite:"+store, "URND_REGISTRY_HOSTS=purl.example")
		if reported, err := set.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("registering a prefix: %w: %s", err, reported)
		}
		return s.startWith(ctx, s.config()+fmt.Sprintf(caseConfig, store, s.origin.address),
			"URND_ACCESS_ADMIN_TOKEN="+token)
	})
}

// mixedCase are requests with parts in another case: if the part is case-insensitive, each response equals that
// to the first request of its row, otherwise not.
func (s *stage) mixedCase() []payload {
	started := s.withCases()
	var payloads []payload
	add := func(name, section string, same bool, requests ...string) {
		for _, request := range requests[1:] {
			payloads = append(payloads, payload{
				name: name, section: section, shows: request,
				play: func(ctx context.Context) error {
					d, err := started()
					if err != nil {
						return err
					}
					want, err := s.spoken(ctx, d, requests[0])
					if err != nil {
						return err
					}
					got, err := s.spoken(ctx, d, request)
					switch {
					case err != nil:
						return err
					case same && got != want:
						return fmt.Errorf("it is answered %s, and not %s", got, want)
					case !same && got == want:
						return fmt.Errorf("it is answered %s, as %s is", got, requests[0])
					}
					return nil
				},
			})
		}
	}
	same := func(name, section string, requests ...string) { add(name, section, true, requests...) }
	other := func(name, section string, requests ...string) { add(name, section, false, requests...) }
	host := func(target string, hosts ...string) (all []string) {
		for _, host := range hosts {
			all = append(all, "GET "+target+" HTTP/1.1|Host: "+host)
		}
		return all
	}
	same("a web host", "RFC 9110 section 4.2.3", host("/p/x", "purl.example", "PURL.EXAMPLE", "Purl.Example.",
		"pURL.example:80", "PURL.example.:443")...)
	same("a site", "RFC 9110 section 4.2.3", host("/p/case", "site.example", "SITE.example", "Site.Example.",
		"sitE.example:80")...)
	same("a web host in the target", "RFC 9112 section 3.2.2",
		"GET https://purl.example/p/x HTTP/1.1|Host: purl.example",
		"GET HTTPS://PURL.example/p/x HTTP/1.1|Host: PURL.example",
		"GET Https://purl.EXAMPLE./p/x HTTP/1.1|Host: purl.EXAMPLE.")
	same("a host that is denied", "RFC 3986 section 6.2.2.1", "GET http://denied.example/ HTTP/1.1|Host: a",
		"GET http://DENIED.example/ HTTP/1.1|Host: a",
		"GET HTTP://Denied.Example./ HTTP/1.1|Host: a", "GET http://A.Denied.TEST/ HTTP/1.1|Host: a",
		"GET http://a.denied.test./ HTTP/1.1|Host: a")
	same("a tunnel that is denied", "RFC 9112 section 3.2.3", "CONNECT denied.example:443 HTTP/1.1|Host: a",
		"CONNECT DENIED.Example:443 HTTP/1.1|Host: a",
		"CONNECT denied.example.:443 HTTP/1.1|Host: a", "CONNECT b.DENIED.test:443 HTTP/1.1|Host: a")
	same("a scheme", "RFC 3986 section 3.1", "GET http://"+s.origin.address+"/p/case HTTP/1.1|Host: a",
		"GET HTTP://"+s.origin.address+"/p/case HTTP/1.1|Host: a")
	same("a scheme in a path", "RFC 3986 section 3.1", "GET /http://a.example/ HTTP/1.1|Host: a",
		"GET /HTTP://A.example/ HTTP/1.1|Host: a")
	same("a URN", "RFC 8141 section 3.1", "GET /urn:plain:a HTTP/1.1|Host: a", "GET /URN:plain:a HTTP/1.1|Host: a",
		"GET /uRn:PLAIN:a HTTP/1.1|Host: a",
		"GET URN:Plain:a HTTP/1.1|Host: a")
	same("names of fields", "RFC 9110 section 5.1", "GET /urn:plain:a HTTP/1.1|Host: a|Accept: application/json",
		"GET /urn:plain:a HTTP/1.1|hOST: a|ACCEPT: application/json")
	same("a type that is accepted", "RFC 9110 section 8.3.1",
		"GET /urn:none:a HTTP/1.1|Host: a|Accept: application/json",
		"GET /urn:none:a HTTP/1.1|Host: a|Accept: Application/JSON")
	same("a coding that is accepted", "RFC 9110 section 8.4.1",
		"GET /namespaces HTTP/1.1|Host: a|Accept-Encoding: gzip",
		"GET /namespaces HTTP/1.1|Host: a|Accept-Encoding: GZip")
	same("a language", "RFC 9110 section 8.5.1", "GET / HTTP/1.1|Host: a|Accept: text/html|Accept-Language: de",
		"GET / HTTP/1.1|Host: a|Accept: text/html|Accept-Language: DE")
	same("the type of a body", "RFC 9110 section 8.3.1",
		"POST /api/v1/resolve HTTP/1.1|Host: a|Content-Type: text/plain|Content-Length: 11||urn:plain:a",
		"POST /api/v1/resolve HTTP/1.1|Host: a|Content-Type: Text/PLAIN|CONTENT-LENGTH: 11||urn:plain:a",
		"POST /api/v1/resolve HTTP/1.1|Host: a|Content-Type: text/plain; Charset=UTF-8|Content-Length: 11||urn:plain:a",
		"POST /api/v1/resolve HTTP/1.1|Host: a|Content-Type: text/plain|Transfer-Encoding: Chunked||B|urn:plain:a|0||",
		"POST /api/v1/resolve HTTP/1.1|Host: a|Content-Type: text/plain|TRANSFER-ENCODING: CHUNKED||b|urn:plain:a|0||")
	same("an expectation", "RFC 9110 section 10.1.1", "GET / HTTP/1.1|Host: a|Expect: 100-continue",
		"GET / HTTP/1.1|Host: a|EXPECT: 100-CONTINUE")
	same("a token", "RFC 9110 section 11.1",
		"admin GET /metrics HTTP/1.1|Host: ADMIN|Authorization: Bearer "+caseToken,
		"admin GET /metrics HTTP/1.1|Host: ADMIN|Authorization: bEARER "+caseToken)
	other("a token in another case", "RFC 6750 section 2.1",
		"admin GET /metrics HTTP/1.1|Host: ADMIN|Authorization: Bearer "+caseToken,
		"admin GET /metrics HTTP/1.1|Host: ADMIN|Authorization: Bearer "+strings.ToLower(caseToken),
		"admin GET /metrics HTTP/1.1|Host: ADMIN|Authorization: Bearer "+strings.ToUpper(caseToken))
	other("a method", "RFC 9110 section 9.1", "GET /urn:plain:a HTTP/1.1|Host: a",
		"get /urn:plain:a HTTP/1.1|Host: a", "Get /urn:plain:a HTTP/1.1|Host: a")
	other("a path", "RFC 3986 section 6.2.2.1", "GET /p/x HTTP/1.1|Host: purl.example",
		"GET /P/x HTTP/1.1|Host: purl.example", "GET /p/X HTTP/1.1|Host: purl.example")
	other("a name", "RFC 8141 section 3.1", "GET /urn:plain:a HTTP/1.1|Host: a", "GET /urn:plain:A HTTP/1.1|Host: a")
	return inFamily("mixed case", payloads)
}

// spoken sends a request, whose lines are separated by "|" and whose body is unmodified, to the admin interface
// if it begins with "admin ", and returns the parts of the response that may depend on case.
func (s *stage) spoken(ctx context.Context, d *daemon, request string) (string, error) {
	address := d.service
	if rest, ok := strings.CutPrefix(request, "admin "); ok {
		address, request = d.admin, strings.ReplaceAll(rest, "ADMIN", d.admin)
	}
	head, body, _ := strings.Cut(request, "||")
	if strings.Contains(strings.ToLower(head), "chunked") {
		body = strings.ReplaceAll(body, "|", "\r\n")
	}
	text := strings.ReplaceAll(head, "|", "\r\n") + "\r\nConnection: Close\r\n\r\n" + body
	method, _, _ := strings.Cut(request, " ")
	var r reply
	err := eventually(ctx, inTime, func() error { // other payloads occupy the quota of this client
		got, err := converse(ctx, address, friend, text, method)
		switch {
		case err != nil:
			return err
		case len(got) == 0:
			return errors.New("there is no response")
		}
		if r = got[len(got)-1]; r.status == http.StatusServiceUnavailable {
			return errors.New("it is refused")
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %q %s %s %s", r.status, r.header.Get("Location"), r.header.Get("Content-Type"),
		r.header.Get("Content-Language"), r.header.Get("Content-Encoding")), nil
}
