package gs1_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer/gs1"
	"github.com/urnd/urnd/resolver"
)

const item = "https://id.example/01/09506000134352"

func lines(accept, languages string) httpmessage.Header {
	return func(name string) []string {
		value := map[string]string{"Accept": accept, "Accept-Language": languages}[name]
		if value == "" {
			return nil
		}
		return []string{value}
	}
}

// setOf returns the links of an item.
func setOf(links ...resolver.Link) *gs1.Set { return gs1.NewSet(item, links, []string{item}) }

func chosen(c gs1.Choice) string {
	if c.Linkset != "" {
		return c.Linkset
	}
	var uris []string
	for _, l := range c.Links {
		uris = append(uris, l.URI)
	}
	return strings.Join(uris, " ")
}

func works(string) bool { return false }

// RFC 4647 section 3.4 by Accept-Language: the range with the highest weight is truncated until a tag
// matches.
func TestLanguages(t *testing.T) {
	link := func(uri, tag string) resolver.Link { return resolver.Link{Rel: "gs1:pip", URI: uri, Language: tag} }
	all := setOf(link("de", "de"), link("zh", "zh-Hant"), link("at", "de-AT"), link("pt", "pt"), link("none", ""))
	for accepted, want := range map[string]string{
		"":                              "de zh at pt none",
		"de":                            "de",
		"DE-at":                         "at",
		"de-CH":                         "de",
		"pt-BR":                         "pt",
		"zh-Hant-CN-x-private1-p2":      "zh",
		"zh":                            "zh", // a more specific tag precedes the next range
		"ja":                            "none",
		"ja, *":                         "de zh at pt none",
		"ja, pt;q=0.5, de;q=0.7":        "de",
		"de;q=0, pt;q=0.1":              "pt",
		"de;q=2, pt;q=0.1":              "pt",
		strings.Repeat("x,", 20) + "de": "none", // limited
	} {
		if got := chosen(all.Choose(gs1.ParseRequest("linkType=gs1:pip", lines("", accepted)), works)); got != want {
			t.Errorf("%q chooses %q, want %q", accepted, got, want)
		}
	}
}

// GR 2.6.3: a missing attribute beats a contradicting one.
func TestMediaTypes(t *testing.T) {
	link := func(uri, kind string) resolver.Link { return resolver.Link{Rel: "gs1:pip", URI: uri, Type: kind} }
	typed, mixed := setOf(link("html", "text/html"), link("pdf", "application/pdf")),
		setOf(link("html", "text/html"), link("none", ""))
	for _, c := range []struct {
		set          *gs1.Set
		accept, want string
	}{
		{typed, "", "html pdf"},
		{typed, "*/*", "html pdf"},
		{typed, "application/pdf;q=0.5, text/html;q=0.4", "pdf"},
		{typed, "application/*, */*;q=0.1", "pdf"},
		{typed, "application/pdf;q=0, */*", "html"},
		{typed, "image/png", "html pdf"},
		{typed, "garbage", "html pdf"},
		{typed, "application/json", "html pdf"}, // a link type was requested
		{typed, "application/linkset+json", "application/linkset+json"},
		{typed, "application/linkset+json;q=0.5, text/html", "html"},
		{typed, "application/linkset+json;q=0.5, */*", "html pdf"}, // it prefers any other type
		{typed, "application/linkset+json, */*", "application/linkset+json"},
		{mixed, "application/pdf", "none"},
		{mixed, "text/html, */*;q=0.8", "html"},
		{mixed, "*/*", "html none"},
	} {
		if got := chosen(c.set.Choose(gs1.ParseRequest("linkType=gs1:pip", lines(c.accept, "")),
			works)); got != c.want {
			t.Errorf("%q chooses %q, want %q", c.accept, got, c.want)
		}
	}
}

// Several defaults without a difference are mirrors: the first that works is the default, and never a choice.
func TestDefaults(t *testing.T) {
	link := func(uri, tag string) resolver.Link { return resolver.Link{URI: uri, Language: tag} }
	mirrors, languages := setOf(link("a", ""), link("b", "")), setOf(link("en", "en"), link("de", "de"))
	typed := setOf(resolver.Link{URI: "html", Type: "text/html"}, resolver.Link{URI: "json", Type: "application/json"})
	for _, c := range []struct {
		set                    *gs1.Set
		accept, language, want string
		failing                string
	}{
		{mirrors, "", "", "a", ""},
		{mirrors, "", "de", "b", "a"},
		{mirrors, "", "", "a", "a b"},
		{languages, "", "", "en", ""},
		{languages, "", "ja", "en", ""},
		{languages, "", "de", "de", ""},
		{typed, "application/json", "", "json", ""},
		{typed, "application/ld+json", "", "application/ld+json", ""},
		{setOf(), "", "", "", ""},
	} {
		failing := func(location string) bool { return strings.Contains(c.failing, location) }
		if got := chosen(c.set.Choose(gs1.ParseRequest("", lines(c.accept, c.language)), failing)); got != c.want {
			t.Errorf("%q and %q choose %q, want %q", c.accept, c.language, got, c.want)
		}
	}
}

// Links that GS1's schema does not allow are omitted, or converted to an allowed form.
func TestProfile(t *testing.T) {
	set := setOf(
		resolver.Link{URI: "https://a.example/", Language: "zh-Hant-TW", Type: "text/html"},
		resolver.Link{URI: "https://a.example/2", Language: "gsw"},
		resolver.Link{Rel: "gs1:recallStatus", URI: "https://a.example/r", Language: "es-419", Context: "DE"},
		resolver.Link{Rel: "gs1:dpp", URI: "https://a.example/</script>", Title: "a & <b>", Language: "de-x-private"},
		resolver.Link{Rel: "https://example.org/terms#a", URI: "https://a.example/t"},
		resolver.Link{Rel: "gs1:pip", URI: "ftp://a.example/"},
	)
	body := string(gs1.Linkset(set.Links, func(string) string { return "an item" }, false))
	want := `{"linkset":[{"anchor":"https://id.example/01/09506000134352","itemDescription":"an item",` +
		`"https://ref.gs1.org/voc/defaultLink":[{"href":"https://a.example/","title":"Default link"}],` +
		`"https://ref.gs1.org/voc/defaultLinkMulti":[{"href":"https://a.example/","title":"Default link","type":"text/html","hreflang":["zh-TW"]},` +
		`{"href":"https://a.example/2","title":"Default link"}],` +
		`"https://ref.gs1.org/voc/recallStatus":[{"href":"https://a.example/r","title":"Recall status","hreflang":["es"],"context":["DE"]}],` +
		`"https://ref.gs1.org/voc/dpp":[{"href":"https://a.example/\u003c/script\u003e","title":"a \u0026 \u003cb\u003e","hreflang":["de"]}]}]}` + "\n"
	if body != want {
		t.Errorf("the linkset is\n%s, want\n%s", body, want)
	}
}

// Linksets, and the types that a reply lists, are limited.
func TestBounds(t *testing.T) {
	var links []resolver.Link
	for i := range 2000 {
		links = append(links, resolver.Link{Rel: fmt.Sprintf("https://example.org/%d", i), URI: "https://a.example/"})
	}
	set := setOf(links...)
	if len(set.Links) != gs1.MaxLinks || len(set.Types(40)) != 40 {
		t.Errorf("there are %d links, and %d types", len(set.Links), len(set.Types(40)))
	}
}

// Any request selects some of the links, or the linkset, which is JSON.
func FuzzChoose(f *testing.F) {
	f.Add("linkType=gs1%3Apip&context=DE", "text/html, */*;q=0.8", "de-AT, en;q=0.5")
	f.Add("linkType=all;x", "application/linkset+json", "*")
	f.Add("", "application/ld+json;q=0.1", "")
	set := setOf(resolver.Link{URI: "a", Language: "de"},
		resolver.Link{Rel: "gs1:defaultLinkMulti", URI: "b", Language: "fr"},
		resolver.Link{Rel: "gs1:pip", URI: "c", Type: "text/html", Context: "DE"},
		resolver.Link{Rel: "gs1:pip", URI: "d"})
	body := gs1.Linkset(set.Links, func(string) string { return "x" }, true)
	if !json.Valid(body) {
		f.Error(string(body))
	}
	f.Fuzz(func(t *testing.T, query, accept, languages string) {
		r := gs1.ParseRequest(query, lines(accept, languages))
		c := set.Choose(r, works)
		if len(c.Links) > len(set.Links) || c.Vary == "" || r.LinkType == "" && c.Linkset == "" && len(c.Links) != 1 {
			t.Errorf("%q, %q, %q: %+v", query, accept, languages, c)
		}
	})
}
