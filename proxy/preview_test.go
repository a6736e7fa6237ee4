package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// withPreviews sets up a registry in which some names end with a preview suffix, and counts its look-ups.
func withPreviews(c *proxy.Config, requested *atomic.Int64) {
	records := map[string]string{
		"urn:example:a": "active", "urn:example:gone": "withdrawn", "urn:example:later": "reserved",
		"urn:example:plus+": "active", "urn:example:plus": "active",
		"https://purl.example/a": "active", "https://purl.example/own?preview": "active",
		"https://purl.example/own": "active", "ark:/12345/x": "active",
	}
	c.Names = c.Names.WithOwnedPrefixes([]string{"urn:", "https://purl.example/", "ark:/12345/"})
	c.Hosts = []string{"purl.example"}
	own := resolver.Func(func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		if q.Service == resolver.I2Ns { // for the other names on the page
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrService, TTL: time.Minute}
		}
		requested.Add(1)
		name := q.URI.String()
		record := &resolver.Record{
			Name: name, Version: 1, Status: records[name],
			Since: time.Date(2031, 5, 1, 0, 0, 0, 0, time.UTC),
		}
		switch record.Status {
		case "active":
			return resolver.Answer{Name: q.URI, TTL: time.Minute, Locations: []resolver.Location{{
				URI: "https://a.example/" + name, From: &resolver.Source{Name: "registry", Record: record},
			}}}, nil
		case "withdrawn":
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrGone, TTL: time.Minute, Record: record}
		case "reserved":
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, TTL: time.Minute, Record: record}
		default:
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, TTL: time.Minute}
		}
	})
	c.Resolver = resolver.NewCanonical(c.Names,
		&resolver.Mux{Names: own, Locations: scheme.NewSelf(), Own: own, Owns: c.Names.Owns})
}

// The page about a name is shown for the name with "?preview" or a final "+", unless that is a name itself.
func TestPreview(t *testing.T) {
	var requested atomic.Int64
	s := start(t, func(c *proxy.Config) { withPreviews(c, &requested) })
	const html, any = "Accept: text/html", "Accept: */*"
	for _, tt := range []struct {
		host, target, accept string
		status               int
		heading              string // of the page about a name; "" for other responses
		asks                 int64  // look-ups in the registry
	}{
		{"a", "/urn:example:a", html, 302, "", 1},
		{"a", "/urn:example:a?preview", html, 200, "urn:example:a", 1},
		{"a", "/urn:example:a?preview", any, 200, "urn:example:a", 1}, // it can request nothing else
		{"a", "/urn:example:gone?preview", html, 410, "urn:example:gone", 1},
		{"a", "/urn:example:later?preview", html, 404, "urn:example:later", 1},
		{"a", "/urn:example:a+", html, 200, "urn:example:a", 2},
		{"a", "/urn:example:a+", any, 404, "", 1}, // a program means a name
		{"a", "/urn:example:gone+", html, 410, "urn:example:gone", 2},
		{"a", "/urn:example:plus+", html, 302, "", 1}, // this is a name
		{"a", "/urn:example:plus+?preview", html, 200, "urn:example:plus&#43;", 1},
		{"a", "/urn:example:none+", html, 404, "", 2},
		{"a", "/urn:example:a++", html, 404, "", 2},
		{"a", "/uri-res/N2L?urn:example:a+", html, 404, "", 1},
		{"a", "/urn:example:a?Preview", html, 400, "", 0},
		{"a", "/ark:/12345/x?preview", html, 200, "ark:/12345/x", 1},
		{"a", "/ark:/12345/x+", html, 200, "ark:/12345/x", 2},
		{"purl.example", "/a?preview", html, 200, "https://purl.example/a", 2},
		{"purl.example", "/a+", html, 200, "https://purl.example/a", 2},
		{"purl.example", "/own?preview", html, 302, "", 1}, // this is a name
		{"purl.example", "/none?preview", html, 404, "", 2},
		{"purl.example", "/none+", html, 404, "", 2},
	} {
		requested.Store(0)
		response := s.ask(t, "GET "+tt.target+" HTTP/1.1\r\nHost: "+tt.host+"\r\n"+tt.accept+"\r\n\r\n")[0]
		page := text(t, response)
		isPage := strings.Contains(page, `<h1><code id="name" dir="auto">`+tt.heading+"</code>")
		if response.StatusCode != tt.status || isPage != (tt.heading != "") || requested.Load() != tt.asks ||
			response.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s %s, %s: %d, %d look-ups, %v\n%s", tt.host, tt.target, tt.accept, response.StatusCode,
				requested.Load(), response.Header, page)
		}
		// The address is that of a name there.
		if isPage && (tt.host == "purl.example") == strings.Contains(page, `rel="search"`) {
			t.Errorf("%s %s: %s", tt.host, tt.target, page)
		}
		found := strings.HasSuffix(tt.target, "+") || tt.host == "purl.example"
		if control := response.Header.Get("Cache-Control"); isPage && found != (control == "no-store") {
			t.Errorf("%s %s: %s", tt.host, tt.target, control)
		}
		if isPage && found && !strings.Contains(response.Header.Get("Vary"), "Accept") {
			t.Errorf("%s %s: %v", tt.host, tt.target, response.Header)
		}
	}
}

// The page has an image of this server, which exists.
func TestPreviewCode(t *testing.T) {
	var requested atomic.Int64
	s := start(t, func(c *proxy.Config) { withPreviews(c, &requested) })
	page := text(t, s.get(t, "/urn:example:a?preview", "Accept: text/html"))
	_, source, _ := strings.Cut(page, `<img class="qr" src="`)
	source, _, _ = strings.Cut(source, `"`)
	requested.Store(0)
	response := s.get(t, source)
	if svg := text(t, response); response.StatusCode != http.StatusOK ||
		response.Header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(svg, "<svg") ||
		requested.Load() != 0 {
		t.Errorf("%q: %d %v, %d look-ups", source, response.StatusCode, response.Header, requested.Load())
	}
}
