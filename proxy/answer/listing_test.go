package answer_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/scheme"
)

// directory returns a listing with all fields set.
func directory() *scheme.Listing {
	size := int64(1000)
	return &scheme.Listing{
		Kind: scheme.KindDirectory, Title: "/pub/", URI: "ftp://h.example/pub/",
		Parent:   &scheme.Link{Text: "/", URI: "ftp://h.example/"},
		Next:     &scheme.Link{Text: "more", URI: "ftp://h.example/pub/2"},
		Previous: &scheme.Link{URI: "ftp://h.example/pub/0"},
		Items: []scheme.Item{
			{
				Kind: scheme.ItemFile, Name: "<a>", URI: "ftp://h.example/pub/%3Ca%3E", Size: &size, Type: "text/plain",
				Modified: time.Unix(1e9, 0),
			},
			{Kind: scheme.ItemOther, Name: "b", Modified: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)},
		},
	}
}

// RFC 9110 section 12.5.1: the client gets the media type that it prefers, HTML if it has no preference or
// accepts none. Its links lead to /fetch only if the request did.
func TestListing(t *testing.T) {
	for _, tt := range []struct {
		accept  string
		fetched bool
		kind    string
		has     string
	}{
		{
			"text/html,*/*;q=0.8", true, "text/html; charset=utf-8",
			`<a href="/fetch?uri=ftp%3A%2F%2Fh.example%2Fpub%2F%253Ca%253E">`,
		},
		{"text/html", false, "text/html; charset=utf-8", `<a href="ftp://h.example/pub/%3Ca%3E">`},
		{"", false, "text/html; charset=utf-8", "&lt;a&gt;"},
		{"*/*", true, "text/html; charset=utf-8", "&lt;a&gt;"},
		{"image/png", true, "text/html; charset=utf-8", "&lt;a&gt;"},
		{"text/plain", true, "text/plain; charset=utf-8", "2001-09-09 01:46  <a>"},
		{"application/json", true, "application/json", `"name": "<a>"`},
		{
			"application/json;q=0.1, application/linkset+json", false, "application/linkset+json",
			`"anchor": "ftp://h.example/pub/"`,
		},
	} {
		accept := answer.ListingAccept(tt.accept, tt.fetched, "")
		if chosen, fetched := answer.ParseListingAccept(accept); fetched != tt.fetched ||
			strings.ContainsAny(chosen, ";,") {
			t.Errorf("%q: %q at /fetch %t", tt.accept, chosen, fetched)
		}
		kind, document := answer.Listing(pages.New(pages.Site{}).In(pages.English), accept, directory())
		body := document.Body
		if kind != tt.kind || !strings.Contains(string(body), tt.has) ||
			!tt.fetched && strings.Contains(string(body), "/fetch") {
			t.Errorf("%s at /fetch %t: %s %s", tt.accept, tt.fetched, kind, body)
		}
	}
}

// RFC 3339 section 1: years have four digits. RFC 9264 section 4.2.1, and RFC 6573.
func TestListingAsJSON(t *testing.T) {
	l := directory()
	_, document := answer.Listing(pages.New(pages.Site{}).In(pages.English),
		answer.ListingAccept("application/json", false, ""), l)
	body := document.Body
	var got scheme.Listing
	if err := json.Unmarshal(body, &got); err != nil || len(got.Items) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if !got.Items[1].Modified.IsZero() || got.Items[0].Modified.Unix() != 1e9 || l.Items[1].Modified.IsZero() {
		t.Errorf("%+v of %+v", got.Items, l.Items)
	}
	var set struct {
		Linkset []struct {
			Anchor               string
			Item, Up, Prev, Next []struct{ Href, Title, Type string }
		}
	}
	_, document = answer.Listing(pages.New(pages.Site{}).In(pages.English),
		answer.ListingAccept("application/linkset+json", false, ""), l)
	body = document.Body
	if err := json.Unmarshal(body, &set); err != nil || len(set.Linkset) != 1 {
		t.Fatalf("%+v, %v", set, err)
	}
	if c := set.Linkset[0]; len(c.Item) != 1 || c.Item[0].Type != "text/plain" || c.Up[0].Href != "ftp://h.example/" ||
		c.Prev[0].Href != "ftp://h.example/pub/0" || c.Next[0].Title != "more" {
		t.Errorf("%+v", set)
	}
	_, document = answer.Listing(pages.New(pages.Site{}).In(pages.English),
		answer.ListingAccept("application/linkset+json", false, ""), &scheme.Listing{URI: "news:a.b"})
	body = document.Body
	if string(body) != "{\"linkset\": [\n  {\"anchor\": \"news:a.b\"}]}\n" {
		t.Errorf("an empty one: %s", body)
	}
}

// Directories and lists of groups are sorted as requested, other listings are not; the sort is stable.
func TestSortedListing(t *testing.T) {
	one, two, ten := int64(1), int64(2), int64(10)
	for _, tt := range []struct{ kind, order, want string }{
		{scheme.KindDirectory, "", "c a B d"},
		{scheme.KindDirectory, "name", "a B c d"},
		{scheme.KindDirectory, "size", "d B a c"}, // directories have no size
		{scheme.KindDirectory, "time", "a B c d"},
		{scheme.KindGroups, "size", "d B a c"}, // by the number of articles
		{scheme.KindMenu, "name", "c a B d"},
		{scheme.KindGroup, "time", "c a B d"},
	} {
		l := &scheme.Listing{Kind: tt.kind, Items: []scheme.Item{
			{Name: "c", Modified: time.Unix(1, 0)},
			{Name: "a", Size: &one, Modified: time.Unix(3, 0)},
			{Name: "B", Size: &two, Modified: time.Unix(2, 0)},
			{Name: "d", Count: &ten},
		}}
		_, document := answer.Listing(pages.New(pages.Site{}).In(pages.English),
			answer.ListingAccept("application/json", false, tt.order), l)
		body := document.Body
		var got scheme.Listing
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		var names []string
		for i := range got.Items {
			names = append(names, got.Items[i].Name)
		}
		if strings.Join(names, " ") != tt.want {
			t.Errorf("%s by %q: %s, want %s", tt.kind, tt.order, names, tt.want)
		}
	}
}
