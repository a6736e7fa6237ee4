//go:build e2e

package proxy

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/test/urndtest"
)

// TestSitePages checks that the pages of the site show its configured texts and logo, and that an invalid logo
// changes nothing.
func TestSitePages(t *testing.T) {
	t.Parallel()
	logo := filepath.Join(t.TempDir(), "logo.svg")
	write := func(text string) {
		if err := os.WriteFile(logo, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><rect width="40" height="20" style="fill:red"/></svg>`)
	site := func(c *config.Config) {
		c.Site = config.Presentation{
			Name: "Library", Logo: logo, Accent: "#a00040", Contact: "mailto:anna@library.example", Language: "de",
			Examples: []string{"urn:library:1"}, Texts: []config.SiteText{{Language: "de", Name: "Bibliothek"}},
		}
		c.Listen.PublicURL = "https://library.example/resolver"
		c.Namespaces = append(c.Namespaces,
			config.Namespace{NID: "library", Targets: []config.Target{{Template: "https://library.example/{+nss}"}}})
	}
	w := urndtest.Start(t, urndtest.UDPAndTCP(urndtest.AnswerRcode(dns.RcodeNameError)).Serve(t), site)
	get := func(target string, accept string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+target, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		r.Header.Set("Accept-Language", accept)
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response, string(body)
	}
	response, body := get("/", "ja")
	for _, want := range []string{
		"<h1>Bibliothek</h1>", `<img src="/resolver/logo.svg" width="40" height="20" alt="">`, "urn:library",
		"urn:isbn", `href="mailto:anna@library.example"`, `href="/resolver/urn:library:1"`, `action="/resolver/"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if policy := response.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "img-src 'self'") ||
		response.Header.Get("Content-Language") != "de" {
		t.Errorf("%v", response.Header)
	}
	if _, body := get("/urn:unknown-a:1", "fr"); !strings.Contains(body, "Library</a>") ||
		!strings.Contains(body, "introuvable") {
		t.Error(body)
	}
	if response, body := get("/logo.svg", ""); response.Header.Get("Content-Type") != "image/svg+xml" ||
		!strings.Contains(body, "fill:red") ||
		!strings.HasPrefix(response.Header.Get("Content-Security-Policy"), "sandbox; default-src 'none'") {
		t.Errorf("%v %s", response.Header, body)
	}
	refused := func(what string, change func(*config.Config)) {
		t.Helper()
		const failure = "site.logo: "
		before := strings.Count(w.Log(), failure)
		if reload(t, w, change) || strings.Count(w.Log(), failure) == before {
			t.Errorf("%.20q is a logo, or is refused for another reason", what)
		}
	}
	for _, text := range []string{"<html/>", "", strings.Repeat("x", 70_000)} {
		write(text)
		refused(text, keep)
	}
	for _, path := range []string{filepath.Dir(logo), filepath.Join(filepath.Dir(logo), "none"), "/dev/zero"} {
		refused(path, func(c *config.Config) { c.Site.Logo = path })
	}
}
