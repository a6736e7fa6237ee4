package proxy_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/gate/policy"
)

// Pages link to /fetch if their reader may use it, and such pages are not stored for others.
func TestLinksToFetch(t *testing.T) {
	s := start(t, func(c *proxy.Config) {
		c.Access.Resolve, c.Access.Proxy, c.Access.Trusted = prefixes("0.0.0.0/0", "::/0"), prefixes("10.1.0.0/16"),
			prefixes("127.0.0.0/8")
	})
	const html = "Accept: text/html"
	for _, tt := range []struct {
		client, target string
		status         int
		leads          bool
	}{
		{"10.1.2.3", "/", 200, true},
		{"203.0.113.7", "/", 200, false},
		{"203.0.113.7", "/?lang=de", 200, false},
		{"10.1.2.3", "/fetch", 200, true},
		{"203.0.113.7", "/fetch", 403, false},
		{"10.1.2.3", "/fetch?uri=http://[", 400, true},
		{"203.0.113.7", "/fetch?uri=http://a.example/", 403, false},
		{"203.0.113.7", "/namespaces", 200, false},
		{"10.1.2.3", "/namespaces", 200, false}, // shared caches store it for all clients
		{"203.0.113.7", "/urn:isbn:1", 400, false},
		{"10.1.2.3", "/urn:isbn:1", 400, false},
	} {
		response := s.get(t, tt.target, html, "X-Forwarded-For: "+tt.client)
		body := text(t, response)
		if leads := strings.Contains(body, `/fetch`); response.StatusCode != tt.status || leads != tt.leads {
			t.Errorf("%s by %s: %d, leads to /fetch: %t\n%s", tt.target, tt.client, response.StatusCode, leads, body)
		}
		if control := response.Header.Get("Cache-Control"); tt.leads && control != "private" && control != "no-store" &&
			response.Header.Get("Last-Modified") != "" {
			t.Errorf("%s by %s: %q", tt.target, tt.client, control)
		}
	}
	if control := s.get(t, "/", html, "X-Forwarded-For: 10.1.2.3").Header.Get("Cache-Control"); control != "private" {
		t.Errorf("the front page of an authorized client: %q", control)
	}
}

// The page about a denied request has its URL, the denial by a rule, and the reason given by the site, in the
// language of the page. Programs get the same.
func TestDeniedPage(t *testing.T) {
	const reason = `Keine sozialen Netze im Lesesaal. Fragen <Sie> an der Theke.`
	rules, err := policy.New(policy.ModeEnforce, []policy.Rule{
		{ID: "no-social", Deny: true, Hosts: []string{".social.example"}, Reason: reason},
		{ID: "no-words", Deny: true, Hosts: []string{"plain.example"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, func(c *proxy.Config) { c.Policy = rules })
	details := regexp.MustCompile(`(?s)<details>.*?</details>`)
	for target, url := range map[string]string{
		"http://www.social.example/a?b=1":            "http://www.social.example/a?b=1",
		"/fetch?uri=http://www.social.example/a%3Fb": "http://www.social.example/a?b",
	} {
		response := s.get(t, target, "Accept: text/html", "Accept-Language: de")
		all := text(t, response)
		page := details.ReplaceAllString(all, "")
		for _, want := range []string{
			url, "Seine Regeln erlauben diese Adresse nicht.",
			`<p class="notice" dir="auto">Keine sozialen Netze im Lesesaal. Fragen &lt;Sie&gt; an der Theke.</p>`,
		} {
			if response.StatusCode != 403 || !strings.Contains(page, want) {
				t.Errorf("%s: %d without %s:\n%s", target, response.StatusCode, want, page)
			}
		}
		if strings.Contains(page, "proxy.rules") || strings.Contains(page, "no-social") ||
			!strings.Contains(all, "(proxy.rules)") {
			t.Errorf("%s:\n%s", target, all)
		}
	}
	document := text(t, s.get(t, "http://www.social.example/a?b=1"))
	for _, want := range []string{
		`"input": "http://www.social.example/a?b=1"`,
		`the site's rule \"no-social\" denies this request: Keine sozialen Netze im Lesesaal.`,
	} {
		if !strings.Contains(document, want) {
			t.Errorf("%s\nhas no %s", document, want)
		}
	}
	if page := text(t, s.get(t, "http://plain.example/", "Accept: text/html")); !strings.Contains(page,
		"The rules of this server deny this address.") {
		t.Error(page)
	}
}
