package answer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/proxytest"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// foundNames returns names as found by a registry.
func foundNames(n int) resolver.NamePage {
	var found resolver.NamePage
	for i := range n {
		found.Names = append(found.Names, resolver.NameSummary{
			Name: fmt.Sprintf("urn:a1:%05d", i), Status: "active",
			Targets:  []string{"mailto:a@a.example", fmt.Sprintf("HTTPS://Host%d.example:8443/x", i)},
			Title:    "Of a target",
			Metadata: fmt.Sprintf(`{"title": "A <b>title</b> of %d", "creator": ["A", "B"], "publisher": "C"}`, i),
			Changed:  time.Unix(0, 0),
		})
	}
	return found
}

// A page of names has the title in the metadata, the host of the first target with a host, and is private
// unless all readers get the same.
func TestNames(t *testing.T) {
	found, err := foundNames(2), error(nil)
	lists := Lists{Search: func(context.Context, resolver.NameSearch) (resolver.NamePage, error) { return found, err }}
	w := pages.New(pages.Site{}).In(pages.English)
	get := func(requested route.Names, forAll bool) message.Reply {
		t.Helper()
		r, failure := lists.Names(t.Context(), w, &requested, requested.Search, forAll)
		if failure != nil {
			t.Fatal(failure)
		}
		return r
	}
	r := get(route.Names{}, true)
	for _, part := range []string{
		`href="/uri-res/N2C.html?urn:a1:00001"`, "A &lt;b&gt;title&lt;/b&gt; of 1",
		"target on host1.example<",
	} {
		if !strings.Contains(string(r.Body), part) {
			t.Errorf("no %s: %s", part, r.Body)
		}
	}
	if r.Status != 200 || r.CacheControl != "max-age=60" || !strings.Contains(r.Vary, "Accept-Language") {
		t.Errorf("%+v", r)
	}
	if r = get(route.Names{}, false); r.CacheControl != "private, max-age=60" {
		t.Errorf("for some: %s", r.CacheControl)
	}
	found.TimedOut = true
	if r = get(route.Names{}, true); r.CacheControl != "no-store" {
		t.Errorf("late: %s", r.CacheControl)
	}
	r = get(route.Names{Err: route.ErrNamesLong}, true)
	if r.Status != 400 || r.CacheControl != "no-store" ||
		!strings.Contains(string(r.Body), "A form field is too long.") {
		t.Errorf("%+v %s", r, r.Body)
	}
	err = resolver.ErrCursor
	if r = get(route.Names{Search: resolver.NameSearch{After: "bad"}}, true); r.Status != 400 ||
		strings.Contains(string(r.Body), "bad") {
		t.Errorf("%+v %s", r, r.Body)
	}
	err = resolver.ErrBusy
	if _, failure := lists.Names(t.Context(), w, &route.Names{}, resolver.NameSearch{}, true); !errors.Is(failure,
		resolver.ErrBusy) {
		t.Error(failure)
	}
}

// A sitemap is streamed, and its slot is released exactly once, also for HEAD.
func TestSitemap(t *testing.T) {
	released := 0
	lists := Lists{
		Index: func(context.Context) ([]byte, error) { return []byte("<index/>"), nil },
		File: func(_ context.Context, file string, _ netip.Addr) (func(io.Writer) error, func(), error) {
			if file != "a~b" {
				return nil, nil, resolver.ErrCursor
			}
			return func(w io.Writer) error { _, err := io.WriteString(w, "<urlset/>"); return err },
				func() { released++ }, nil
		},
	}
	for _, tt := range []struct {
		method, file, want string
	}{{"GET", "", "<index/>"}, {"GET", "a~b", "<urlset/>"}, {"HEAD", "a~b", ""}} {
		r, err := lists.Sitemap(t.Context(), &route.Sitemap{File: tt.file}, netip.Addr{})
		if err != nil {
			t.Fatal(err)
		}
		var w proxytest.Recorder
		message.Write(&w, tt.method, r, nil)
		if w.Status != 200 || w.Body.String() != tt.want ||
			w.Fields.Get("Content-Type") != "application/xml; charset=utf-8" ||
			w.Fields.Get("Cache-Control") != "max-age=3600" {
			t.Errorf("%+v: %d %q %q", tt, w.Status, w.Fields, &w.Body)
		}
	}
	if released != 2 {
		t.Errorf("released %d times", released)
	}
	if _, err := lists.Sitemap(t.Context(), &route.Sitemap{File: "x"}, netip.Addr{}); !errors.Is(err,
		resolver.ErrCursor) {
		t.Error(err)
	}
}

// RFC 9309 section 2.2, and the line of sitemaps.org.
func TestRobots(t *testing.T) {
	count := func(context.Context, string) (int64, bool) { return 0, false }
	for _, tt := range []struct {
		lists   Lists
		sitemap string
		want    string
	}{
		{
			Lists{},
			"",
			"User-agent: *\nAllow: /$\nAllow: /namespaces$\nAllow: /namespaces/\nAllow: /docs$\nAllow: " +
				"/docs/\nDisallow: /\n",
		},
		{
			Lists{Count: count},
			"",
			"User-agent: *\nAllow: /$\nAllow: /namespaces$\nAllow: /namespaces/\nAllow: /docs$\nAllow: " +
				"/docs/\nAllow: /names$\nDisallow: /\n",
		},
		{
			Lists{},
			"https://a.example/sitemap.xml",
			"User-agent: *\nAllow: /$\nAllow: /namespaces$\nAllow: /namespaces/\nAllow: /docs$\nAllow: " +
				"/docs/\nAllow: /sitemap.xml$\nAllow: /sitemap-\nAllow: /uri-res/N2C.html?\n" +
				"Allow: /uri-res/L2C.html?\nDisallow: /\n\nSitemap: https://a.example/sitemap.xml\n",
		},
	} {
		if r := Robots(tt.lists, tt.sitemap).Reply(nil); string(r.Body) != tt.want {
			t.Errorf("%s", r.Body)
		}
	}
}

func BenchmarkNames(b *testing.B) {
	found := foundNames(50)
	lists := Lists{Search: func(context.Context, resolver.NameSearch) (resolver.NamePage, error) { return found, nil }}
	w := pages.New(pages.Site{}).In(pages.English)
	for b.Loop() {
		if _, err := lists.Names(b.Context(), w, &route.Names{}, resolver.NameSearch{}, true); err != nil {
			b.Fatal(err)
		}
	}
}
