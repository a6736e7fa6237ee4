package proxy_test

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/scheme"
)

// nginxBelow returns the nginx configuration of docs/pages.md, with another address of urnd.
func nginxBelow(t *testing.T, addr string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/pages.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```nginx\n")
	snippet, _, ok := strings.Cut(rest, "```")
	if !ok || !strings.Contains(snippet, "127.0.0.1:8141") {
		t.Fatalf("docs/pages.md has %q for nginx", snippet)
	}
	return strings.Replace(snippet, "127.0.0.1:8141", addr, 1)
}

// targetsOf returns the paths that a page refers to, by links, forms and images.
func targetsOf(page string) (all []string) {
	tokens := html.NewTokenizer(strings.NewReader(page))
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		for _, a := range tokens.Token().Attr {
			if (a.Key == "href" || a.Key == "action" || a.Key == "src") && strings.HasPrefix(a.Val, "/") {
				all = append(all, a.Val)
			}
		}
	}
	return all
}

// All pages work below a path, with nginx in front as docs/pages.md describes: all links and forms stay below
// the path, and lead to a page. Names keep their bytes.
func TestBelowPathOfNginx(t *testing.T) {
	s := start(t, func(c *proxy.Config) {
		c.PublicURL = "https://library.example/resolver"
		c.Pages = pages.New(pages.Site{
			Base: "/resolver", Examples: []string{"urn:isbn:9780395363416"}, Namespaces: []string{"isbn"}, Known: 1,
			All: []pages.Namespace{{NID: "isbn", Source: "RFC 8254", Example: "urn:isbn:9780395363416"}},
		})
		c.Fetch, c.Forward.Accept = scheme.Mux{"ftp": shelf{}}, answer.ListingAccept
	})
	front := testserver.StartNginx(t, testserver.OpenFolder(t), nginxBelow(t, s.addr))
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	get := func(target string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+front.Addr()+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html,*/*;q=0.8")
		r.Header.Set("Sec-Fetch-Site", "same-origin") // as a link or a form of these pages does
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response, text(t, response)
	}
	for _, tt := range []struct {
		target   string
		status   int
		location string
	}{
		{"/resolver/", 200, ""},
		{"/resolver/?uri=" + url.QueryEscape("urn:example:a") + "&lang=de", 302, "https://a.example/urn:example:a"},
		{"/resolver/?uri=" + url.QueryEscape("urn:example:a") + "&format=html", 200, ""},
		{
			"/resolver/?uri=" + url.QueryEscape("ftp://h.example/pub/"), 302,
			"/resolver/fetch?uri=ftp%3A%2F%2Fh.example%2Fpub%2F",
		},
		{"/resolver/?uri=nothing", 400, ""},
		{"/resolver/urn:example:a%2Fb%2E", 302, "https://a.example/urn:example:a%2Fb%2E"},
		{"/resolver/urn:example:a?=x%2F", 302, "https://a.example/urn:example:a?x%2F"},
		{"/resolver/urn:example:a?preview", 200, ""},
		{"/resolver/urn:a", 400, ""},
		{"/resolver/fetch", 200, ""},
		{"/resolver/fetch?uri=ftp://h.example/pub/", 200, ""},
		{"/resolver/namespaces?q=isbn", 200, ""},
		{"/resolver/namespaces/isbn", 200, ""},
		{"/resolver/api/v1/explain?uri=urn:example:a", 200, ""},
		{"/resolver/docs", 200, ""},
	} {
		response, body := get(tt.target)
		if response.StatusCode != tt.status || response.Header.Get("Location") != tt.location {
			t.Errorf("%s: %s to %q: %s", tt.target, response.Status, response.Header.Get("Location"), body)
			continue
		}
		if tt.location != "" {
			continue
		}
		targets := targetsOf(body)
		if len(targets) < 5 {
			t.Errorf("%s leads to %q", tt.target, targets)
		}
		for _, to := range targets {
			if !strings.HasPrefix(to, "/resolver/") {
				t.Errorf("%s leads to %s", tt.target, to)
				continue
			}
			wrong := strings.Contains(to, "urn%3Aa&") || strings.Contains(to, "uri=nothing") // as the page says
			// Shelf has one directory.
			isShelved := strings.HasPrefix(to, "/resolver/fetch?uri=") && tt.target != "/resolver/fetch"
			if found, body := get(to); found.StatusCode >= http.StatusBadRequest && !wrong && !isShelved {
				t.Errorf("%s leads to %s, which is %s: %s", tt.target, to, found.Status, body)
			}
		}
	}
}
