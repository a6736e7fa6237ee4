package proxy_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// shelf is a scheme.Handler of a protocol other than HTTP: it has one directory, and rejects other URIs.
type shelf struct{}

func (shelf) Fetch(_ context.Context, r scheme.Request) (*scheme.Resource, error) {
	size := int64(1000)
	path := r.URI.Path()
	switch {
	case path == "/pub/":
		return scheme.ListingResource(&scheme.Listing{
			Kind: scheme.KindDirectory, Title: "/pub/", URI: r.URI.String(),
			Parent: &scheme.Link{Text: "/", URI: "ftp://h.example/"},
			Next:   &scheme.Link{Text: "more", URI: "ftp://h.example/pub/2"}, Warnings: []string{"w"},
			Notes:      []string{"n"},
			Properties: []scheme.Property{{Name: "p", Value: "v", URI: "http://h.example/"}},
			Search:     &scheme.Search{Label: "l", Prefix: "ftp://h.example/pub/?"},
			Items: []scheme.Item{
				{
					Kind: scheme.ItemFile, Name: "<a>", URI: "ftp://h.example/pub/%3Ca%3E", Size: &size,
					Type: "text/plain", Modified: time.Unix(1e9, 0), From: "f", Note: "n", Depth: 1, Count: &size,
				},
				{Kind: scheme.ItemOther, Name: "b", Modified: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)},
			},
			Text: "t", Open: &scheme.Link{Text: "o", URI: "telnet://h.example/"}, Incomplete: "i",
			Previous: &scheme.Link{URI: "ftp://h.example/pub/0"},
		}), nil
	case strings.HasPrefix(path, "/refused/"):
		refusal := &scheme.StatusError{Status: map[string]int{
			"/refused/404": 404, "/refused/401": 401,
			"/refused/503": 503,
		}[path], Reply: `550 "No" such file`}
		if refusal.Status == http.StatusUnauthorized {
			refusal.Fields = httpmessage.NewFields("Www-Authenticate", `Basic realm="ftp"`)
		}
		return nil, refusal
	case path == "/moved":
		return scheme.Redirect(http.StatusFound, "ftp://h.example/pub/"), nil
	case path == "/unreachable":
		return nil, fmt.Errorf("connecting: %w", resolver.ErrUnreachable)
	default:
		return nil, fmt.Errorf("%w: 25 is not that of ftp", scheme.ErrPort)
	}
}

// startShelf starts a server that retrieves from a shelf.
func startShelf(t *testing.T) *server {
	return start(t, func(c *proxy.Config) {
		c.Fetch = scheme.Mux{"ftp": shelf{}}
		c.ListingTTL, c.Forward.Accept = time.Minute, answer.ListingAccept
	})
}

// A listing stored for all clients is not used for a request with Authorization: the handler selects the
// listing by it.
func TestListingsByLogin(t *testing.T) {
	var stored *memory.Store[*httpcache.Entry]
	s := start(t, func(c *proxy.Config) {
		c.Forward.Accept, c.ListingTTL = answer.ListingAccept, time.Minute
		stored = withCache(t, c)
		c.Fetch = handlerFunc(func(_ context.Context, r scheme.Request) (*scheme.Resource, error) {
			resource := scheme.ListingResource(&scheme.Listing{
				Kind:  scheme.KindDirectory,
				Title: "for " + r.Fields.Get("Authorization"), URI: "ftp://h.example/",
			})
			resource.Fields.Set("Vary", "Authorization")
			if r.Fields.Get("Authorization") != "" {
				resource.Fields.Set("Cache-Control", "no-store")
			}
			return resource, nil
		})
	})
	for i, fields := range [][]string{{}, {}, {"Authorization: anna"}, {}} {
		fields = append(fields, "Accept: text/plain")
		want := "for " + strings.TrimPrefix(fields[0], "Authorization: ")
		if len(fields) == 1 {
			want = "for "
		}
		response := s.get(t, "ftp://h.example/", fields...)
		if first, _, _ := strings.Cut(text(t, response), "\n"); strings.TrimSpace(first) != strings.TrimSpace(want) {
			t.Errorf("%d: %q, want %q", i, first, want)
		}
		if vary := response.Header.Values("Vary"); strings.Join(vary,
			", ") != "Authorization, Accept, Accept-Language" {
			t.Errorf("%d: %q", i, vary)
		}
		testserver.Wait(t, "it is stored", func() bool { return i > 0 || stored.Stats().Entries > 0 })
	}
}

// An error of a server is explained with the server's message, and is not a failure of the proxy (RFC 9209
// section 2.1.1).
func TestRefusal(t *testing.T) {
	s := startShelf(t)
	for _, tt := range []struct {
		target   string
		status   int
		message  string
		proxies  string
		contains string
	}{
		{
			"/fetch?uri=ftp://u:secret@h.example/refused/404", 404, "The server has no such file or directory.",
			`urnd; details="550 \"No\" such file"`,
			`action="/fetch"`,
		},
		{
			"/fetch?uri=ftp://h.example/refused/401", 403, "The server denies access to it.", "urnd; details=",
			`action="/fetch"`,
		},
		{"ftp://h.example/refused/401", 401, "requires a user name and a password for it", "urnd; details=", "550"},
		{
			"/fetch?uri=ftp://h.example/unreachable", 502, "Its server cannot be reached",
			"urnd; error=destination_unavailable", `value="ftp://h.example/unreachable"`,
		},
		{
			"/fetch?uri=ftp://h.example:25/port", 403, "This server does not fetch it. This port is not allowed.",
			"urnd; error=http_request_denied", "gateways.allow_ports",
		},
		{
			"ftp://h.example:25/port", 403, "did not forward the request", "urnd; error=http_request_denied",
			"gateways.allow_ports",
		},
		{
			"/fetch?uri=ftp://h.example/%5c%zz", 400, "Error at the marked character", "urnd; error=http_request_error",
			`action="/fetch"`,
		},
	} {
		response := s.get(t, tt.target, "Accept: text/html", "Referer: http://a/")
		page := text(t, response)
		if response.StatusCode != tt.status || !strings.Contains(page, tt.message) ||
			!strings.Contains(page, tt.contains) || strings.Contains(page, "secret") {
			t.Errorf("%s: %s: %s", tt.target, response.Status, page)
		}
		if got := response.Header.Get("Proxy-Status"); !strings.HasPrefix(got, tt.proxies) ||
			strings.Contains(tt.proxies,
				"details") && strings.Contains(got, "error=") {
			t.Errorf("%s: Proxy-Status: %s", tt.target, got)
		}
		if challenge := response.Header.Get("Www-Authenticate"); (challenge != "") != (tt.status == 401) {
			t.Errorf("%s: %q", tt.target, challenge)
		}
		document := s.get(t, tt.target, "Accept: application/json")
		if kind := document.Header.Get("Content-Type"); kind != "application/problem+json" ||
			document.StatusCode != tt.status {
			t.Errorf("%s: %s %q", tt.target, document.Status, kind)
		}
	}
}

// Browsers get a form at /fetch, other clients the error.
func TestFetchForm(t *testing.T) {
	s := startShelf(t)
	closed := start(t, func(c *proxy.Config) { c.Access.Proxy = nil })
	for _, target := range []string{"/fetch", "/fetch?uri="} {
		if response := s.get(t, target, "Accept: text/html"); response.StatusCode != 200 ||
			!strings.Contains(text(t, response),
				`<form action="/fetch">`) || response.Header.Get("Vary") != "Accept, Accept-Language" {
			t.Errorf("%s: %s", target, response.Status)
		}
		if response := s.get(t, target); response.StatusCode != 400 ||
			response.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %s", target, response.Status)
		}
		if response := closed.get(t, target, "Accept: text/html"); response.StatusCode != 403 {
			t.Errorf("%s for others: %s", target, response.Status)
		}
	}
}
