package formats_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// shelf is a gateway to a protocol other than HTTP: it has a directory, and rejects other URIs.
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
		refusal := &scheme.StatusError{
			Status: map[string]int{"/refused/404": 404, "/refused/401": 401}[path],
			Reply:  `550 "No" such file`,
		}
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

// oneListed lists one name in one sitemap file.
func oneListed() answer.Lists {
	return answer.Lists{
		Search: func(_ context.Context, s resolver.NameSearch) (found resolver.NamePage, err error) {
			if s.After == "bad" {
				return found, resolver.ErrCursor
			}
			found.Names = []resolver.NameSummary{{
				Name: "urn:isbn:9780395363416", Status: "active",
				Metadata: `{"title": "A book"}`,
			}}
			return found, nil
		},
		Count: func(_ context.Context, group string) (int64, bool) { return 1234, group == "urn:isbn" },
		Index: func(context.Context) ([]byte, error) { return []byte("<sitemapindex/>"), nil },
		File: func(_ context.Context, file string, _ netip.Addr) (func(io.Writer) error, func(), error) {
			if file != "~" {
				return nil, nil, resolver.ErrCursor
			}
			return func(w io.Writer) error { _, err := io.WriteString(w, "<urlset/>"); return err }, func() {}, nil
		},
	}
}

// withHandles configures names of a registry as handles.
func withHandles(c *proxy.Config) {
	c.Names = c.Names.WithOwnedPrefixes([]string{"urn:"})
	c.Handles = route.Handles{{Prefix: "20.500.1", Names: "urn:a1:"}}
	c.Resolver = resolver.NewCanonical(c.Names, resolver.Func(fromRegistry))
}

// fromRegistry responds like the registry.
func fromRegistry(_ context.Context, q resolver.Query) (resolver.Answer, error) {
	name := q.URI.String()
	record := &resolver.Record{
		Name: name, Version: 2, Changed: time.Date(2031, 5, 1, 10, 0, 0, 123, time.UTC), Status: "active",
		Contact:  "mailto:anna@example.org",
		Metadata: `{"title":"A <book> & more","creators":[]}`,
		Links:    []resolver.Link{{URI: "https://a.example/rdf", Rel: "describedby", Type: "application/rdf+xml"}},
	}
	switch name {
	case "urn:a1:gone":
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrGone, Reason: "merged", Record: record}
	case "urn:a1:reserved":
		return resolver.Answer{},
			&resolver.Negative{Kind: resolver.ErrNotFound, Reason: "it is reserved", Record: record}
	case "urn:a1:unknown":
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "no such name"}
	case "urn:a1:down":
		return resolver.Answer{}, resolver.ErrUnreachable
	case "urn:a1:alias":
		record.Name = "urn:a1:first"
	case "urn:a1:plain":
		record.Contact, record.Metadata, record.Links = "Anna, room 5", "", nil
	}
	source := &resolver.Source{Name: "registry", Record: record}
	german := &resolver.Source{
		Name: "registry", Record: record, Language: "de",
		Relation: &resolver.Relation{Rel: "item", Title: `"<Ä>"`, Context: "DE"},
	}
	found := []resolver.Location{
		{URI: "https://a.example/?x=1&y=<2>", From: source},
		{URI: "https://a.example/de", From: german},
	}
	if name == "urn:a1:plain" {
		found = found[:1]
	}
	return resolver.Answer{Locations: found, TTL: time.Hour, Cache: resolver.CacheHit}, nil
}
