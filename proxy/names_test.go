package proxy_test

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver"
)

// oneListed lists one name, and another one for clients that may see hidden names.
func oneListed() answer.Lists {
	return answer.Lists{
		Search: func(_ context.Context, s resolver.NameSearch) (found resolver.NamePage, err error) {
			switch {
			case s.After == "bad":
				return found, resolver.ErrCursor
			case s.Words == "busy":
				return found, resolver.ErrBusy
			}
			found.Names = []resolver.NameSummary{{
				Name: "urn:isbn:9780395363416", Status: "active",
				Metadata: `{"title": "<i>A book</i> of ` + s.Words + `"}`,
			}}
			if s.All {
				found.Names = append(found.Names, resolver.NameSummary{Name: "urn:isbn:hidden", Status: "reserved"})
			}
			return found, nil
		},
		Count: func(_ context.Context, group string) (int64, bool) { return 1234, group == "urn:isbn" },
		Index: func(context.Context) ([]byte, error) { return []byte("<sitemapindex/>"), nil },
		File: func(_ context.Context, file string, client netip.Addr) (func(io.Writer) error, func(), error) {
			if file != "~" || !client.IsValid() {
				return nil, nil, resolver.ErrCursor
			}
			return func(w io.Writer) error { _, err := io.WriteString(w, "<urlset/>"); return err }, func() {}, nil
		},
	}
}

// The names of the registry are listed for the configured clients, hidden ones for some of them, in the
// language of the reader. If no client may list them, there is no such page.
func TestNamePages(t *testing.T) {
	everybody := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	var browse, all []netip.Prefix
	serve := func() *server {
		return start(t, func(c *proxy.Config) {
			c.Lists = oneListed()
			if browse == nil {
				c.Lists = answer.Lists{}
			}
			c.Access.Browse, c.Access.BrowseAll = browse, all
			c.Pages = pages.New(pages.Site{All: []pages.Namespace{{NID: "isbn"}}, HasNameList: browse != nil})
		})
	}
	off := serve()
	for _, target := range []string{"/names", "/names?q=a", "/sitemap.xml", "/sitemap-~.xml"} {
		if response := off.get(t, target, "Accept: text/html"); response.StatusCode != 404 {
			t.Errorf("%s where there is none: %s", target, response.Status)
		}
	}
	browse = everybody
	s := serve()
	for _, tt := range []struct {
		target, accept string
		status         int
		control        string
		has            string
	}{
		{"/names", "en", 200, "max-age=60", "&lt;i&gt;A book&lt;/i&gt; of"},
		{"/names?q=%3Cb%3E&lang=fr", "de", 200, "max-age=60", "Parcourir"},
		{"/names?status=withdrawn", "en", 200, "max-age=60", "A book"},
		{"/names?after=bad", "de", 400, "no-store", "role=\"alert\">Wo die Liste weitergehen soll"},
		{"/names?q=%zz", "de", 400, "no-store", "das kein Text ist"},
		{"/names?prefix=" + strings.Repeat("a", 501), "en", 400, "no-store", "too long"},
		{"/names?q=busy", "en", 503, "no-store", "The server is busy"},
		{"/namespaces/ISBN", "en", 200, "max-age=3600", "1,234 names"},
	} {
		response := s.get(t, tt.target, "Accept: text/html", "Accept-Language: "+tt.accept)
		body := text(t, response)
		if response.StatusCode != tt.status || response.Header.Get("Cache-Control") != tt.control ||
			!strings.Contains(body, tt.has) {
			t.Errorf("%s: %s, %q, %s", tt.target, response.Status, response.Header, body)
		}
		if strings.Contains(body, "isbn:hidden") || strings.Contains(body, "<select") {
			t.Errorf("%s shows hidden content: %s", tt.target, body)
		}
		if vary := response.Header.Get("Vary"); !strings.Contains(vary, "Accept-Language") {
			t.Errorf("%s: %q", tt.target, vary)
		}
		if response.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s is read by other sites", tt.target)
		}
	}
	if response := s.ask(t,
		"POST /names HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")[0]; response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", response.Status)
	}
	all = []netip.Prefix{loopback}
	some := serve()
	response := some.get(t, "/names")
	if body := text(t, response); !strings.Contains(body, "urn:isbn:hidden") || !strings.Contains(body, "<select") ||
		response.Header.Get("Cache-Control") != "private, max-age=60" {
		t.Errorf("%q %s", response.Header, body)
	}
	if body := text(t, some.get(t, "/names", "X-Forwarded-For: 192.0.2.1")); strings.Contains(body, "isbn:hidden") {
		t.Errorf("behind a proxy that is not trusted: %s", body)
	}
	browse, all = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, nil
	if response := serve().get(t, "/names", "Accept: text/html"); response.StatusCode != http.StatusForbidden {
		t.Errorf("another client: %s", response.Status)
	}
}

// A text typed on the front page that is no identifier is searched for in titles, if the reader may list
// names. Programs, and texts that are similar to an identifier, get the error.
func TestTypedTitle(t *testing.T) {
	browse := []netip.Prefix{loopback}
	serve := func(lists answer.Lists) *server {
		return start(t, func(c *proxy.Config) { identifying(t)(c); c.Lists, c.Access.Browse = lists, browse })
	}
	s := serve(oneListed())
	for typed, want := range map[string]string{
		"Kalevala": "/names?q=Kalevala", "war and peace": "/names?q=war+and+peace",
		"Kalevala: a poem": "/names?q=Kalevala%3A+a+poem", "äö & <b>": "/names?q=%C3%A4%C3%B6+%26+%3Cb%3E",
		"10. 1000/182": "", "urn:isbn:x y": "", "urn.ietf.rfc.1": "", "978-0-395-36341-7": "",
		"see urn:ietf:rfc:1 there": "", strings.Repeat("a", 201): "",
	} {
		target := "/?uri=" + url.QueryEscape(typed)
		response := s.get(t, target, "Accept: text/html")
		if got := response.Header.Get("Location"); got != want ||
			want != "" && (response.StatusCode != 302 || response.Header.Get("Cache-Control") != "no-store") {
			t.Errorf("%s: %s %q, want %q", typed, response.Status, got, want)
		}
		if response := s.get(t, target); response.StatusCode != 400 && response.StatusCode != 501 {
			t.Errorf("%s: a program gets %s", typed, response.Status)
		}
	}
	if got := s.get(t, "/?uri=Kalevala&lang=de",
		"Accept: text/html").Header.Get("Location"); got != "/names?q=Kalevala&lang=de" {
		t.Errorf("the language that was chosen: %q", got)
	}
	if response := s.get(t, "/?uri=Kalevala", "Accept: text/html",
		"X-Forwarded-For: 192.0.2.1"); response.StatusCode != 400 {
		t.Errorf("behind a proxy that is not trusted: %s", response.Status)
	}
	if response := serve(answer.Lists{}).get(t, "/?uri=Kalevala", "Accept: text/html"); response.StatusCode != 400 {
		t.Errorf("without lists: %s", response.Status)
	}
	browse = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	if response := serve(oneListed()).get(t, "/?uri=Kalevala", "Accept: text/html"); response.StatusCode != 400 {
		t.Errorf("another client: %s", response.Status)
	}
}

// A sitemap is streamed, robots.txt refers to it, and paths of other files are rejected.
func TestSitemap(t *testing.T) {
	s := start(t, func(c *proxy.Config) { c.Lists, c.PublicURL = oneListed(), "https://library.example" })
	for target, want := range map[string]string{"/sitemap.xml": "<sitemapindex/>", "/sitemap-~.xml": "<urlset/>"} {
		response := s.get(t, target)
		if body := text(t, response); response.StatusCode != 200 || body != want ||
			response.Header.Get("Content-Type") != "application/xml; charset=utf-8" ||
			response.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %s %q %s", target, response.Status, response.Header, body)
		}
		if head := s.ask(t, "HEAD "+target+" HTTP/1.1\r\nHost: a\r\n\r\n")[0]; head.StatusCode != 200 {
			t.Errorf("HEAD %s: %s", target, head.Status)
		}
	}
	if response := s.get(t, "/sitemap-bad.xml"); response.StatusCode != 400 ||
		!strings.Contains(text(t, response), "cursor unknown or expired") {
		t.Errorf("%s", response.Status)
	}
	if body := text(t, s.get(t, "/robots.txt")); !strings.Contains(body,
		"\nSitemap: https://library.example/sitemap.xml\n") {
		t.Errorf("%s", body)
	}
}
