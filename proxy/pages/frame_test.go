package pages_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"image"
	"image/png"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/scheme"
)

// library returns a site with all fields set.
func library(t testing.TB) pages.Site {
	t.Helper()
	logo, err := pages.ParseLogo([]byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><rect width="40" height="20"/></svg>`))
	if err != nil {
		t.Fatal(err)
	}
	site := pages.Site{
		Name: "Library of <Examples>", Logo: logo, Accent: "#a00040", Contact: "mailto:anna@library.example",
		Imprint: "https://library.example/imprint",
		Privacy: "https://library.example/privacy?a&b", Examples: []string{"urn:isbn:9780395363416", "ISSN 0028-0836"},
		Namespaces: strings.Fields("doi eidr ietf isbn isni issn lei lex nbn oid"), Known: 96, Base: "/resolver",
		All: knownSpaces(), HasNameList: true,
	}
	site.Texts[pages.German] = pages.SiteText{Name: "Bibliothek der <Beispiele>", Welcome: "Willkommen & guten Tag."}
	return site
}

// everyPage returns pages of all kinds in one language, by description. Listings, whose length is not
// limited, are separate.
func everyPage(t testing.TB, w pages.Writer) (bounded, listings map[string]pages.Page) {
	t.Helper()
	offset := 9
	long := strings.Repeat("urn:a1:b", 100)
	problems := map[string]api.Problem{
		"marked": {
			Status: 400, Title: "Bad Request", Input: "urn:isbn:x y", Offset: &offset, Rule: "ISBN", RuleCode: "isbn",
			Section: "RFC 8141 section 2", Code: "not_valid", More: "a space is not allowed",
		},
		"withdrawn": {
			Called:   "A Book of <Examples>",
			Citation: "Ann A. (2020): A Book of <Examples>. Withdrawn since 2031-05-01: merged. urn:a1:b",
			Page:     "/uri-res/N2C.html?urn:a1:b", Status: 410, Title: "Gone", Code: "name_withdrawn",
			Values: []string{"Date", "2031-05-01"},
			Input:  "urn:a1:b", Record: &api.Record{
				Status: "withdrawn", Since: "2031-05-01T10:00:00Z", Reason: "merged", Contact: "mailto:a@a.example",
				Successors: []string{"urn:a1:c", "http://a.example/"},
			},
		},
		"reserved": {
			Status: 404, Title: "Not Found", Code: "name_reserved", Input: "urn:a1:b",
			Record: &api.Record{Status: "reserved", Sandbox: true},
		},
		"nothing": {
			Status: 400, Title: "Bad Request", Input: "kalevala", Typed: "kalevala", Offset: new(int),
			Rule: "URI", RuleCode: "no_scheme", Section: "RFC 3986 section 3", Code: "not_valid",
		},
		"guess": {
			Status: 404, Title: "Not Found", Code: "no_page", IsPage: true, Input: long, Typed: long,
			Suggestions: []string{"urn:isbn:9780395363416", "urn:issn:0028-0836"},
		},
		"opens": {
			Status: 403, Title: "Forbidden", Code: "person_opens", Input: "gopher://a.example/", Fetched: true,
			Forwarded: true, Retrieves: "gopher://a.example/", Opens: "/fetch?uri=x",
		},
		"address": {Status: 404, Title: "Not Found", Code: "name_not_found", Input: "https://purl.example/x"},
	}
	for _, status := range []int{400, 401, 403, 404, 405, 410, 414, 429, 500, 501, 502, 503, 504} {
		p := api.Problem{Status: status, Title: http.StatusText(status), Code: "name_not_registered", Input: "urn:a1:b"}
		problems[p.Title] = p
		p.Forwarded, p.Input = true, "http://a.example/"
		problems["forwarded "+p.Title] = p
		p.Fetched, p.Input = true, "gopher://a.example/"
		problems["fetched "+p.Title] = p
		p.Refused, p.Noun = true, "file"
		problems["refused "+p.Title] = p
		p.Declined = true
		problems["declined "+p.Title] = p
	}
	bounded = map[string]pages.Page{
		"home": w.Home(false), "home of a host": w.Home(true), "fetch": w.Fetch(),
		"list": w.List("urn:a1:b", []string{"http://a.example/", "urn:a1:c"}),
		"with data": w.DescriptionWith("urn:a1:b", [][2]string{{"identifier", "urn:a1:b"}},
			[]byte(`{"a": "</script><script>alert(1)"}`)),
		"empty list":  w.List("urn:a1:b", nil),
		"description": w.Description("urn:a1:b", [][2]string{{"identifier", "urn:a1:b"}, {"url", "http://a.example/"}}),
	}
	bounded["namespaces"], bounded["no namespace"] = w.Namespaces("", ""), w.Namespaces("<none>&", "")
	for _, ns := range knownSpaces() {
		if page, ok := w.Namespace(ns.NID, 12_345); ok {
			bounded["namespace "+ns.NID] = page
		}
	}
	for name, p := range problems {
		bounded[name] = w.Problem(p)
	}
	listings = make(map[string]pages.Page)
	for _, name := range names(t) {
		listings[name], listings[name+" of a proxy"] = w.Listing(fixture(t, name), fetched),
			w.Listing(fixture(t, name), itself)
	}
	for name, n := range listedNames() {
		listings[name] = w.Names(&n)
	}
	for name, n := range named() {
		listings["name "+name] = w.Name(&n)
	}
	for name, page := range documented(t, w) {
		listings["docs "+name] = page
	}
	for name, e := range explained() {
		listings["explain "+name] = w.Explain(&e)
	}
	for _, kind := range kinds() {
		listings["empty "+kind] = w.Listing(&scheme.Listing{Kind: kind, URI: "ftp://a.example/"}, fetched)
	}
	return bounded, listings
}

// Every page in every language is complete, satisfies the WCAG 2.2 criteria of its frame, has only the style
// that its policy allows, and is short.
func TestEveryPage(t *testing.T) {
	for name, site := range map[string]pages.Site{"plain": {}, "library": library(t)} {
		d := pages.New(site)
		for _, l := range pages.Languages() {
			bounded, listings := everyPage(t, d.In(l))
			for page, p := range bounded {
				where := name + ", " + l.Tag() + ": " + page
				checkFrame(t, where, l, p)
				const most = 8 << 10 // the limit of proxy for replies about names that do not resolve
				if len(p.Body) > most {
					t.Errorf("%s: %d bytes", where, len(p.Body))
				}
			}
			for page, p := range listings {
				checkFrame(t, name+", "+l.Tag()+": "+page, l, p)
			}
		}
	}
}

// The longest pages that requests and settings can produce are short, too.
func TestLongestPages(t *testing.T) {
	site := library(t)
	site.Examples = slices.Repeat([]string{strings.Repeat("ä", 100)}, 10)
	site.Namespaces = slices.Repeat([]string{strings.Repeat("n", 32)}, 500)
	site.Texts[pages.English] = pages.SiteText{Name: strings.Repeat("&", 80), Welcome: strings.Repeat("<", 1000)}
	w := pages.New(site).For("en")
	long, offset := strings.Repeat(`"`, 60_000), 30_000
	problem := api.Problem{
		Status: 404, Title: "Not Found", Code: "rules_loop", Values: []string{"Domain", long},
		More: long, Input: long, Typed: long, Suggestions: []string{long, strings.Repeat("<", 1024)},
	}
	marked := problem
	marked.Rule, marked.RuleCode, marked.Offset = "path", "path", &offset
	address := problem
	address.Input, address.Typed = "https://h.example/"+strings.Repeat("%", 1000), ""
	withdrawn, quoted := problem, `urn:a1:`+strings.Repeat(`'`, 1010)
	withdrawn.Status, withdrawn.Called, withdrawn.Citation, withdrawn.Page = 410, long, long, "/uri-res/N2C.html?urn:a1:b"
	withdrawn.Suggestions, withdrawn.Record = nil, &api.Record{
		Status: "withdrawn", Since: "2031-05-01T10:00:00Z", Reason: long, Contact: long,
		Successors: slices.Repeat([]string{"urn:nbn:fi:" + strings.Repeat("+", 300)}, 100),
	}
	suggested := problem
	suggested.Input, suggested.Typed, suggested.Suggestions = quoted, quoted, slices.Repeat([]string{quoted}, 3)
	for name, p := range map[string]pages.Page{
		"home": w.Home(false), "problem": w.Problem(problem),
		"marked": w.Problem(marked), "address": w.Problem(address),
		"withdrawn": w.Problem(withdrawn), "suggested": w.Problem(suggested),
	} {
		read(t, p.Body)
		const most = 30_000
		if len(p.Body) > most {
			t.Errorf("%s: %d bytes", name, len(p.Body))
		}
	}
}

func checkFrame(t *testing.T, where string, l pages.Language, p pages.Page) {
	t.Helper()
	elements := read(t, p.Body)
	var compressed bytes.Buffer
	z := gzip.NewWriter(&compressed)
	_, _ = z.Write(p.Body)
	_ = z.Close()
	const firstFlight = 14 << 10 // the initial congestion window: RFC 6928
	if compressed.Len() > firstFlight {
		t.Errorf("%s: %d bytes compressed", where, compressed.Len())
	}
	count := make(map[string]int)
	for _, e := range elements {
		count[e.name]++
		switch {
		case e.name == "html" && e.attrs["lang"] != l.Tag(), e.name == "main" && e.attrs["id"] != "main":
			t.Errorf("%s: %s %v", where, e.name, e.attrs)
		case e.name == "nav" && e.attrs["aria-label"] == "":
			t.Errorf("%s: a nav without a name", where)
		case e.name == "input" && e.attrs["type"] != "hidden" &&
			!slices.ContainsFunc(elements,
				func(label *element) bool { return label.name == "label" && label.text != "" }):
			t.Errorf("%s: a field without a label", where)
		case e.name == "img" && (e.attrs["width"] == "" || e.attrs["height"] == "" ||
			e.attrs["src"] != "/resolver/logo.svg" && e.attrs["class"] != "qr"):
			t.Errorf("%s: %v", where, e.attrs)
		case e.text == "" && (e.name == "a" || e.name == "button" || e.name == "h1" || e.name == "title"):
			t.Errorf("%s: an empty %s", where, e.name)
		}
	}
	if count["main"] != 1 || count["h1"] != 1 || count["title"] != 1 || count["style"] != 1 || count["header"] != 1 {
		t.Errorf("%s: %v", where, count)
	}
	first := slices.IndexFunc(elements, func(e *element) bool { return e.name == "a" })
	if first < 0 || elements[first].attrs["href"] != "#main" {
		t.Errorf("%s: the first link does not skip", where)
	}
	sum := sha256.Sum256([]byte(texts(elements, "style")[0]))
	hash := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	if !strings.Contains(p.Policy, "style-src "+hash+";") || strings.Contains(p.Policy, "unsafe") ||
		p.Language != l.Tag() {
		t.Errorf("%s: %s, and the style is %s", where, p.Policy, hash)
	}
	if strings.Contains(string(p.Body), "%s") || strings.Contains(string(p.Body), "ZgotmplZ") ||
		strings.Contains(string(p.Body), "This page failed") {
		t.Errorf("%s: %s", where, p.Body)
	}
	for _, e := range elements {
		if e.name == "a" && strings.HasPrefix(e.attrs["href"], "//") {
			t.Errorf("%s: a link to %s", where, e.attrs["href"])
		}
	}
}

// A page at the URL of another server has no relative link, and the pages of this server preserve the
// selected language.
func TestLinkTargets(t *testing.T) {
	d := pages.New(library(t))
	hrefs := func(p pages.Page) []string {
		var all []string
		for _, e := range read(t, p.Body) {
			for _, name := range []string{"href", "action"} {
				if to := e.attrs[name]; strings.HasPrefix(to, "/") {
					all = append(all, to)
				}
			}
		}
		return all
	}
	forwarded := api.Problem{
		Status: 502, Title: "Bad Gateway", Code: "connection_refused", Forwarded: true,
		Input: "http://a.example/",
	}
	if got := hrefs(d.For(pages.Chosen("de")).Problem(forwarded)); got != nil {
		t.Errorf("forwarded: %q", got)
	}
	if got := hrefs(d.Standalone().For(pages.Chosen("de")).Problem(api.Problem{
		Status: 404,
		Title:  "Not Found",
	})); !slices.Equal(got, []string{"/?lang=de"}) {
		t.Errorf("apart: %q", got)
	}
	for _, tt := range []struct {
		name string
		page pages.Page
		want string
	}{
		{
			"chosen", d.For(pages.Chosen("de")).Fetch(),
			"/resolver/opensearch.xml /resolver/?lang=de /resolver/?lang=de /resolver/namespaces?lang=de " +
				"/resolver/names?lang=de /resolver/fetch /resolver/fetch?lang=en /resolver/fetch?lang=fr " +
				"/resolver/fetch?lang=es /resolver/fetch?lang=zh",
		},
		{
			"accepted", d.For("de, en").Fetch(),
			"/resolver/opensearch.xml /resolver/ /resolver/ /resolver/namespaces /resolver/names /resolver/fetch " +
				"/resolver/fetch?lang=en /resolver/fetch?lang=fr /resolver/fetch?lang=es /resolver/fetch?lang=zh",
		},
		{
			"host", d.For("de, en").Home(true),
			"/resolver/ /resolver/ /resolver/urn:ietf:rfc:2648 /resolver/urn:isbn:9780395363416 " +
				"/resolver/?uri=ISSN+0028-0836",
		},
		{
			"problem",
			d.For("de, en").Problem(api.Problem{Status: 404, Title: "Not Found", Input: "urn:a1:b?=c&lang=x"}),
			"/resolver/opensearch.xml /resolver/ /resolver/ /resolver/namespaces /resolver/names /resolver/ " +
				"/resolver/?uri=urn%3Aa1%3Ab%3F%3Dc%26lang%3Dx&lang=en " +
				"/resolver/?uri=urn%3Aa1%3Ab%3F%3Dc%26lang%3Dx&lang=fr" +
				" /resolver/?uri=urn%3Aa1%3Ab%3F%3Dc%26lang%3Dx&lang=es " +
				"/resolver/?uri=urn%3Aa1%3Ab%3F%3Dc%26lang%3Dx&lang=zh",
		},
		{
			"not fetched",
			d.For("de, en").Problem(api.Problem{
				Status: 403, Title: "Forbidden", Forwarded: true, Fetched: true,
				MayFetch: true,
			}),
			"/resolver/opensearch.xml /resolver/ /resolver/ /resolver/fetch /resolver/namespaces /resolver/names " +
				"/resolver/fetch",
		},
		{
			"may not fetch", d.For("de, en").Problem(api.Problem{Status: 403, Title: "Forbidden", Fetched: true}),
			"/resolver/opensearch.xml /resolver/ /resolver/ /resolver/namespaces /resolver/names /resolver/",
		},
	} {
		if got := strings.Join(hrefs(tt.page), " "); got != tt.want {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
	german := string(d.For(pages.Chosen("de")).Home(false).Body)
	for _, want := range []string{
		"Bibliothek der &lt;Beispiele&gt;", "Willkommen &amp; guten Tag.",
		`<input type="hidden" name="lang" value="de">`, "Impressum",
	} {
		if !strings.Contains(german, want) {
			t.Errorf("no %s in %s", want, german)
		}
	}
	if english := string(d.For("").Home(false).Body); !strings.Contains(english, "Library of &lt;Examples&gt;") ||
		strings.Contains(english, "Willkommen") {
		t.Error(english)
	}
}

// Restrictions of a page: WCAG 2.2 criteria 2.3.3 and 1.4.4, and no request to another host.
func TestStyle(t *testing.T) {
	page := string(english().Listing(fixture(t, "menu"), fetched).Body)
	_, style, _ := strings.Cut(page, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	for _, never := range []string{
		"url(", "@import", "animation", "transition", "!important", "user-select",
		"px;height",
	} {
		if strings.Contains(style, never) {
			t.Errorf("the style has %s", never)
		}
	}
	for _, always := range []string{":focus-visible", "@media print", "prefers-color-scheme"} {
		if !strings.Contains(style, always) {
			t.Errorf("the style has no %s", always)
		}
	}
}

func TestParseLogo(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 4))); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ bytes, path, failure string }{
		{`<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20px"/>`, "/logo.svg", ""},
		{`<?xml version="1.0"?><!-- a --><svg viewBox="0,0,1.5,2"><g/></svg>`, "/logo.svg", ""},
		{picture.String(), "/logo.png", ""},
		{`<svg/>`, "", "no viewBox"},
		{`<svg viewBox="0 0 -1 1"/>`, "", "no viewBox"},
		{`<svg viewBox="0 0 9999 1"/>`, "", "no viewBox"},
		{`<svg viewBox="0 0 NaN 1"/>`, "", "no viewBox"},
		{`<svg viewBox="0 0 1 1">`, "", "neither"},
		{`<html/>`, "", "html"},
		{"", "", "neither"},
		{"GIF89a", "", "neither"},
		{strings.Repeat(" ", pages.MaxLogo+1), "", "more than"},
	} {
		logo, err := pages.ParseLogo([]byte(tt.bytes))
		switch {
		case tt.failure != "" && (err == nil || !strings.Contains(err.Error(), tt.failure)), tt.failure == "" &&
			err != nil:
			t.Errorf("%.60q: %v", tt.bytes, err)
		case err == nil && logo.Path() != tt.path:
			t.Errorf("%.60q: %s", tt.bytes, logo.Path())
		}
	}
}

func FuzzParseLogo(f *testing.F) {
	for _, data := range []string{
		`<svg viewBox="0 0 1 1"/>`, "\x89PNG\r\n\x1a\n", "<a>",
		"<svg width='1e9' height='-1'/>", "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>&a;</svg>",
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if logo, err := pages.ParseLogo(data); err == nil && (logo.Type == "" || len(logo.Bytes) > pages.MaxLogo) {
			t.Errorf("%+v", logo)
		}
	})
}

func BenchmarkProblem(b *testing.B) {
	p := api.Problem{
		Status: 404, Title: "Not Found", Code: "name_not_registered", Input: "urn:a1:b",
		Suggestions: []string{"urn:a1:c"},
	}
	for b.Loop() {
		plain().For("de-AT,de;q=0.9,en-US;q=0.8,en;q=0.7").Problem(p)
	}
}

func BenchmarkHome(b *testing.B) {
	d := pages.New(library(b))
	for b.Loop() {
		d.For("de-AT,de;q=0.9").Home(false)
	}
}
