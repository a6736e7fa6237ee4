package pages_test

import (
	"fmt"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver/scheme"
)

// kinds returns the kinds of listings, and an unknown one.
func kinds() []string {
	return []string{
		scheme.KindDirectory, scheme.KindMenu, scheme.KindGroups, scheme.KindGroup, scheme.KindArticle,
		scheme.KindResults, scheme.KindDescription, "", "none",
	}
}

// filled returns a listing of a kind with a text in every field.
func filled(kind, text string) *scheme.Listing {
	l := &scheme.Listing{}
	fill(reflect.ValueOf(l).Elem(), text)
	l.Kind = kind
	return l
}

// fill sets each string that a value contains, and makes slices of two elements.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(len(text)) - 20)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Struct:
		if _, isTime := v.Interface().(time.Time); isTime {
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), text)
		}
	}
}

// hostiles returns malicious texts of a server.
func hostiles() []string {
	return []string{
		hostile, `"><img src=x onerror=alert(1)>`, "javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)",
		"java\nscript:alert(1)",
		"data:text/html,<script>alert(1)</script>",
		"vbscript:a", "http://h.example/\" onclick=\"alert(1)", "ftp://h.example/'><script>",
		"</pre></main><script>alert(1)</script>", "</title><script>", "a\r\nb: c\n\n<b>", "\x1b[31mred\x1b]0;t\a\x00",
		"\u202egpj.exe", "\xff\xfe<\xc0script>", "{{.Title}}", "&lt;script&gt;", "`${alert(1)}`", "file:///etc/passwd",
		"blob:x", "/\\evil.example",
		"//evil.example/",
	}
}

// checkHarmless fails if a page contains a script, or a text control characters for a terminal.
func checkHarmless(t *testing.T, l *scheme.Listing) {
	t.Helper()
	for _, through := range []func(string) string{itself, fetched} {
		page := listing(l, through)
		if strings.Contains(string(page), "This page failed") {
			t.Fatal("the page failed")
		}
		for _, e := range content(read(t, page)) {
			if to, ok := e.attrs["href"]; ok && !strings.HasPrefix(to, "/fetch?uri=") {
				u, err := url.Parse(to)
				if err != nil || !slices.Contains([]string{
					"http", "https", "ftp", "gopher", "mailto", "news", "nntp", "telnet", "tn3270", "rlogin", "ftps",
					"gemini", "urn", "wais", "prospero", "z39.50r", "z39.50s", "file",
				}, strings.ToLower(u.Scheme)) {
					t.Errorf("a link to %.100q", to)
				}
			}
		}
	}
	for _, r := range string(pages.New(pages.Site{}).In(pages.English).ListingText(l)) {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e' {
			t.Errorf("the text has %U", r)
			break
		}
	}
}

func TestHostileListings(t *testing.T) {
	for _, kind := range kinds() {
		for _, text := range hostiles() {
			checkHarmless(t, filled(kind, text))
		}
	}
}

// A name of a mebibyte is shortened, and its link is not.
func TestLongNames(t *testing.T) {
	name, uri := strings.Repeat("<i>\xff", 1<<18), "ftp://h.example/"+strings.Repeat("a", 1<<20)
	for _, kind := range kinds() {
		l := &scheme.Listing{Kind: kind, Title: name, URI: "ftp://h.example/", Items: []scheme.Item{{
			Kind: name, Name: name, URI: uri, Note: name,
			From: name, Type: name,
		}}}
		checkHarmless(t, l)
		if page := listing(l, itself); len(page) > 1<<20+50_000 || !strings.Contains(string(page), uri) {
			t.Errorf("%s: %d bytes", kind, len(page))
		}
	}
}

func FuzzListing(f *testing.F) {
	for i, text := range hostiles() {
		f.Add(kinds()[i%len(kinds())], text, "ftp://h.example/", i)
	}
	f.Fuzz(func(t *testing.T, kind, text, uri string, depth int) {
		l := filled(kind, text)
		l.URI, l.Items[1].URI, l.Items[1].Depth, l.Items[1].Kind, l.Items[0].URI = uri, uri, depth, text, ""
		l.Items[0].Kind, l.Search.Prefix, l.Open.URI = scheme.ItemInfo, uri, uri
		checkHarmless(t, l)
	})
}

// The parent directories are links.
func TestCrumbs(t *testing.T) {
	for _, tt := range []struct{ kind, uri, want string }{
		{
			scheme.KindDirectory, "ftp://u@h.example:2121/a/b%20c/d/",
			"u@h.example:2121 ftp://u@h.example:2121/|a ftp://u@h.example:2121/a/|b c ftp://u@h.example:2121/a/b%20c/",
		},
		{scheme.KindDirectory, "ftp://h.example/%2Fetc/x/", "h.example ftp://h.example/|/etc ftp://h.example/%2Fetc/"},
		{scheme.KindDirectory, "ftp://h.example//etc/", "h.example ftp://h.example/|/ ftp://h.example//"},
		{scheme.KindDirectory, "ftp://h.example/", ""},
		{scheme.KindDirectory, "ftp://h.example", ""},
		{scheme.KindDirectory, "file:///a/b/", ""},
		{scheme.KindMenu, "gopher://h.example/1/a/b", ""},
	} {
		var got []string
		for _, e := range content(read(t, listing(&scheme.Listing{Kind: tt.kind, URI: tt.uri}, itself))) {
			if e.name == "a" {
				got = append(got, e.text+" "+e.attrs["href"])
			}
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%s: %q", tt.uri, got)
		}
	}
}

// The targets and attributes of links on a page: locations, and URIs that urnd serves.
func TestListingLinks(t *testing.T) {
	for _, tt := range []struct{ uri, direct, fetched, rel string }{
		{"ftp://h.example/a%20b", "ftp://h.example/a%20b", "/fetch?uri=ftp%3A%2F%2Fh.example%2Fa%2520b", ""},
		{"gopher://h.example/1x", "gopher://h.example/1x", "/fetch?uri=gopher%3A%2F%2Fh.example%2F1x", ""},
		{"news:a@h.example", "news:a@h.example", "/fetch?uri=news%3Aa%40h.example", ""},
		{"telnet://h.example/", "telnet://h.example/", "/fetch?uri=telnet%3A%2F%2Fh.example%2F", ""},
		{"mailto:a@h.example", "mailto:a@h.example", "/fetch?uri=mailto%3Aa%40h.example", ""},
		{"file:///a", "file:///a", "/fetch?uri=file%3A%2F%2F%2Fa", ""},
		{"http://h.example/?a&b", "http://h.example/?a&b", "http://h.example/?a&b", "noreferrer"},
		{"HTTPS://h.example/", "HTTPS://h.example/", "HTTPS://h.example/", "noreferrer"},
		{"javascript:alert(1)", "", "", ""},
		{"data:,a", "", "", ""},
		{"relative", "", "", ""},
		{"//h.example/", "", "", ""},
		{"http://h.example/ b", "", "", ""},
		{"unknown:a", "", "", ""},
		{"", "", "", ""},
	} {
		for _, kind := range kinds() {
			l := &scheme.Listing{
				Kind: kind, URI: "ftp://h.example/",
				Items: []scheme.Item{{Kind: scheme.ItemFile, Name: "name", URI: tt.uri}},
			}
			for want, through := range map[string]func(string) string{tt.direct: itself, tt.fetched: fetched} {
				got, rel := "", ""
				for _, e := range content(read(t, listing(l, through))) {
					if e.name == "a" {
						got, rel = e.attrs["href"], e.attrs["rel"]
					}
				}
				if tt.direct == tt.fetched {
					want = tt.direct
				}
				if got != want || rel != tt.rel {
					t.Errorf("%s in %q: %q %q", tt.uri, kind, got, rel)
				}
			}
		}
	}
}

// The form of a search is submitted to a target that route.Parse parses, or to the listing itself.
func TestSearchForm(t *testing.T) {
	l := fixture(t, "search")
	for _, tt := range []struct {
		through func(string) string
		action  string
		inputs  []string
	}{
		{fetched, "/fetch", []string{"uri=gopher://gopher.example.org:70/7/cat%09", "search="}},
		{itself, "gopher://gopher.example.org:70/7/cat", []string{"search="}},
	} {
		var action string
		var inputs []string
		for _, e := range content(read(t, listing(l, tt.through))) {
			switch e.name {
			case "form":
				action = e.attrs["action"]
			case "input":
				inputs = append(inputs, e.attrs["name"]+"="+e.attrs["value"])
			case "label":
				if e.text != l.Search.Label {
					t.Errorf("label %q", e.text)
				}
			}
		}
		if action != tt.action || !slices.Equal(inputs, tt.inputs) {
			t.Errorf("%q %q", action, inputs)
		}
	}
	sent := url.Values{"uri": {l.Search.Prefix}, "search": {"a b&c+d/é"}}.Encode() // as browsers submit it
	if r, err := route.Parse("/fetch?" + sent); err != nil ||
		r.Query.URI.String() != l.Search.Prefix+"a%20b%26c%2Bd%2F%C3%A9" {
		t.Errorf("%s: %s, %v", sent, r.Query.URI, err)
	}
}

func TestListingElements(t *testing.T) {
	for name, want := range map[string]map[string]int{
		"directory": {"caption": 1, "tr": 11, "a": 15, "time": 9, "data": 6, "div": 1, "nav": 1},
		"menu":      {"pre": 3, "li": 13, "a": 9},
		"groups":    {"tr": 3, "a": 4},
		"group":     {"nav": 2, "a": 20, "dt": 2, "li": 20, "ul": 11, "time": 15},
		"article":   {"dt": 5, "pre": 1, "h2": 1, "li": 3, "a": 5},
		"results":   {"form": 1, "div": 1, "li": 3},
		"telnet":    {"dt": 3, "div": 1, "a": 1},
	} {
		all := read(t, listing(fixture(t, name), fetched))
		elements := content(all)
		got := make(map[string]int)
		for _, e := range elements {
			got[e.name]++
		}
		for element, n := range want {
			if got[element] != n {
				t.Errorf("%s: %d of %s, want %d", name, got[element], element, n)
			}
		}
		if got["h1"] != 1 || !slices.ContainsFunc(all, func(e *element) bool { return e.attrs["lang"] == "en" }) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Sizes are short with the exact value, days have no time, and invalid values are not shown.
func TestListingValues(t *testing.T) {
	size, none, most := int64(1234), int64(-1), int64(math.MaxInt64)
	l := &scheme.Listing{Kind: scheme.KindDirectory, URI: "ftp://h.example/", Items: []scheme.Item{
		{Name: "a", Size: &size, Modified: time.Date(2001, 2, 3, 4, 5, 6, 7, time.FixedZone("", 3600))},
		{Name: "b", Size: &none, Modified: time.Date(2001, 2, 3, 0, 0, 0, 0, time.UTC)},
		{Name: "c", Size: &most, Modified: time.Date(12001, 2, 3, 0, 0, 0, 0, time.UTC)},
		{Name: strings.Repeat("ä", 5000)},
	}}
	page := string(listing(l, itself))
	for _, want := range []string{
		`<data value="1234" title="1,234 bytes">1.2 kB</data>`,
		`<time datetime="2001-02-03T03:05:06Z">2001-02-03 03:05</time>`,
		`<time datetime="2001-02-03">2001-02-03</time>`,
		"9,223,372,036,854,775,807 bytes", "<title>ftp://h.example/</title>", "4 entries",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	_, page, _ = strings.Cut(page, "<h1>")
	if strings.Contains(page, "12001") || strings.Contains(page, "-1") || len(page) > 6_000 {
		t.Error(page)
	}
	for kind, message := range map[string]string{
		scheme.KindDirectory: "This directory is empty.",
		scheme.KindResults:   "Nothing was found.", scheme.KindArticle: "",
	} {
		got := texts(content(read(t, listing(&scheme.Listing{Kind: kind, Title: "t"}, itself))), "p")
		if strings.Join(got, "") != message {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

func TestListingText(t *testing.T) {
	for name, want := range map[string][]string{
		"directory": {
			"/pub/doc/\nftp://ftp.library.example.org/pub/doc/\n\n",
			"\nfolder                  2026-03-02 09:14  incoming\n",
			"\ndocument        734003  1996-02-29 23:59  manual.ps\n", "\nUp: ftp://ftp.library.example.org/pub/\n",
		},
		"menu": {
			"\n   [1] text     About this server\n", "\n                .-/|                  \\ /",
			"\n       error    Error: no server",
			"\n[1] gopher://gopher.example.org:70/0/about.txt\n",
		},
		"article": {
			"\nFrom          B. Ortega", "\n> changes every week.\n",
			"\nFiles:\n\n   [1] image    menu.png (image/png, 48 kB)\n",
		},
		"group":  {"\n   [3] article      Re: How"},
		"telnet": {"\nWarning: The port 2323", "\nOpen: telnet://library@opac.example.org:2323/\n"},
		"search": {"Words to look for in the catalogue: gopher://gopher.example.org:70/7/cat%09WORDS"},
	} {
		text := string(pages.New(pages.Site{}).In(pages.English).ListingText(fixture(t, name)))
		for _, one := range want {
			if !strings.Contains(text, one) {
				t.Errorf("%s: no %q in\n%s", name, one, text)
			}
		}
	}
}

func BenchmarkListing(b *testing.B) {
	for _, kind := range []string{scheme.KindDirectory, scheme.KindMenu, scheme.KindGroup} {
		l := &scheme.Listing{Kind: kind, Title: "/", URI: "ftp://h.example/"}
		for i := range 10_000 {
			size := int64(i * i)
			l.Items = append(l.Items, scheme.Item{
				Kind: scheme.ItemFile, Name: fmt.Sprintf("file-%d.txt", i),
				URI: fmt.Sprintf("ftp://h.example/file-%d.txt", i), Size: &size, Modified: time.Unix(int64(i)*1e5, 0),
				Depth: i % 5,
			})
		}
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.SetBytes(int64(len(listing(l, fetched))))
			}
		})
		b.Run(kind+"/text", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.SetBytes(int64(len(pages.New(pages.Site{}).In(pages.English).ListingText(l))))
			}
		})
	}
}

// Links to /fetch preserve the selected language, and no others do: a name includes all of its query.
func TestListingKeepsLanguage(t *testing.T) {
	d := pages.New(pages.Site{Base: "/resolver"})
	through := func(u string) string {
		if strings.HasPrefix(u, "urn:") {
			return "/" + u
		}
		return fetched(u)
	}
	l := &scheme.Listing{
		Kind: scheme.KindMenu, URI: "gopher://h.example/", Title: "t",
		Parent: &scheme.Link{URI: "gopher://h.example/1/?a"},
		Search: &scheme.Search{Prefix: "gopher://h.example/7/x%09"},
		Items: []scheme.Item{
			{Kind: scheme.ItemFile, Name: "a", URI: "gopher://h.example/0/a"},
			{Name: "n", URI: "urn:example:a?=b"},
		},
	}
	chosen := string(d.For(pages.Chosen("de")).Listing(l, through).Body)
	for _, want := range []string{
		`href="/resolver/fetch?uri=gopher%3A%2F%2Fh.example%2F1%2F%3Fa&amp;lang=de"`,
		`href="/resolver/fetch?uri=gopher%3A%2F%2Fh.example%2F0%2Fa&amp;lang=de"`,
		`<input type="hidden" name="lang" value="de">`, `href="/resolver/urn:example:a?=b"`,
	} {
		if !strings.Contains(chosen, want) {
			t.Errorf("no %s in %s", want, chosen)
		}
	}
	if accepted := string(d.For("de").Listing(l, through).Body); strings.Contains(accepted, "lang=de\"") ||
		strings.Contains(accepted, `name="lang"`) {
		t.Error(accepted)
	}
	if forwarded := string(d.For(pages.Chosen("de")).Listing(l, itself).Body); strings.Contains(forwarded, "lang=de") {
		t.Error(forwarded)
	}
}
