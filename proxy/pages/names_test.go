package pages_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver"
)

// listedNames returns lists of names of all kinds, by description.
func listedNames() map[string]pages.Names {
	few := []pages.ListedName{
		{
			Name: "urn:a1:book", Path: "/uri-res/N2C.html?urn:a1:book", Title: "A Book of <Examples> & More",
			Host: "books.example", Status: "active",
		},
		{Name: "urn:a1:book,2", Path: "/uri-res/N2C.html?urn%3Aa1%3Abook%2C2", Alias: "urn:a1:book", Status: "active"},
		{
			Name: "urn:a1:gone", Path: "/uri-res/N2C.html?urn:a1:gone",
			Title:  "What was withdrawn, and is here with a long title that needs more than one line on a small window",
			Status: "withdrawn",
		},
		{Name: "urn:a1:held", Path: "/uri-res/N2C.html?urn:a1:held", Status: "reserved"},
		{
			Name: "urn:a1:trial", Path: "/uri-res/N2C.html?urn:a1:trial", Host: "books.example", Status: "active",
			IsSandbox: true,
		},
	}
	many := make([]pages.ListedName, 0, 50)
	for i := range 50 {
		name := fmt.Sprintf("urn:nbn:fi:example-%05d", i)
		many = append(many, pages.ListedName{
			Name: name, Path: "/uri-res/N2C.html?" + name,
			Title: fmt.Sprintf("Annual report %d", 1970+i), Host: "files.library.example", Status: "active",
		})
	}
	return map[string]pages.Names{
		"names": {List: many, Next: "urn:nbn:fi:example-00049"},
		"all names": {
			Search: resolver.NameSearch{All: true, Status: "withdrawn", Tag: "books", Prefix: "urn:a1:"},
			List:   few,
		},
		"late names": {
			Search: resolver.NameSearch{Words: "<b>book</b>"}, List: few[:1], Next: ".AAAA",
			TimedOut: true,
		},
		"no title":  {Search: resolver.NameSearch{Words: "none"}},
		"no names":  {Search: resolver.NameSearch{Words: "none", Host: "none.example"}},
		"bad names": {Search: resolver.NameSearch{Words: "none"}, ErrorCode: "list_cursor"},
		"longest name": {List: []pages.ListedName{{
			Name: "urn:a1:" + strings.Repeat("&", 1273),
			Path: "/" + strings.Repeat("&", 1280), Title: strings.Repeat("<", 3000), Host: strings.Repeat("h", 1000),
		}}},
	}
}

// A list shows the result of a search, with the search in its form and in the link to the next page; no text
// becomes markup.
func TestNames(t *testing.T) {
	site := library(t)
	site.HasNameList = true
	for language, want := range map[string][]string{
		"en": {
			"Browse names", "target on books.example", "alias of urn:a1:book", "withdrawn", "reserved",
			"target on books.example · sandbox",
		},
		"de": {
			"Namen durchsehen", "führt zu books.example", "ein anderer Name von urn:a1:book", "zurückgezogen",
			"reserviert", "zur Probe",
		},
	} {
		n := listedNames()["all names"]
		text := string(pages.New(site).For(language).Names(&n).Body)
		for _, part := range append(want, `href="/resolver/uri-res/N2C.html?urn:a1:book"`,
			"A Book of &lt;Examples&gt; &amp; More", `value="withdrawn" selected`,
			`name="tag" value="books"`, "noindex") {
			if !strings.Contains(text, part) {
				t.Errorf("%s has no %s: %s", language, part, text)
			}
		}
	}
	n := listedNames()["late names"]
	text := string(pages.New(site).For(pages.Chosen("fr")).Names(&n).Body)
	for _, part := range []string{
		`value="&lt;b&gt;book&lt;/b&gt;"`, `href="/resolver/names?q=%3Cb%3Ebook%3C%2Fb%3E&amp;after=.AAAA&amp;lang=fr"`,
		"Continuer la recherche", `name="lang" value="fr"`, `<a href="/resolver/names?lang=fr">Parcourir</a>`,
		"Tous les noms n’ont pas encore",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s: %s", part, text)
		}
	}
	if strings.Contains(text, "<select") || strings.Contains(text, `name="tag"`) {
		t.Error("a user without rights can choose a status")
	}
	n = listedNames()["names"]
	if text = string(pages.New(site).In(pages.English).Names(&n).Body); strings.Contains(text, "noindex") ||
		!strings.Contains(text, `<b aria-current="page">Browse names</b>`) {
		t.Errorf("the first page: %s", text)
	}
	n = listedNames()["bad names"]
	if text = string(pages.New(site).In(pages.German).Names(&n).Body); !strings.Contains(text,
		`role="alert">Wo die Liste weitergehen soll`) || strings.Contains(text, "gefunden") {
		t.Errorf("a fault: %s", text)
	}
}

// No page exceeds 30,000 bytes: the next page begins after the last name that fits.
func TestNamesPageLimits(t *testing.T) {
	w := pages.New(library(t)).In(pages.English)
	n := pages.Names{
		Search: resolver.NameSearch{
			Prefix: strings.Repeat("&", 500), Words: strings.Repeat("<", 200), Host: strings.Repeat("\"", 200),
			Tag: strings.Repeat("'", 200), After: strings.Repeat("a", 2048), All: true,
		},
		Next: strings.Repeat("%", 1200),
	}
	for i := range 50 {
		name := fmt.Sprintf("urn:a1:%02d%s", i, strings.Repeat("&", 600))
		n.List = append(n.List, pages.ListedName{
			Name: name, Path: "/uri-res/N2C.html?" + name,
			Title: strings.Repeat("&", 3000), Alias: name, Status: "withdrawn",
		})
	}
	p := w.Names(&n)
	rows := strings.Count(string(p.Body), "<li><a")
	if len(p.Body) > 30_000 || rows == 0 {
		t.Errorf("%d bytes, %d rows", len(p.Body), rows)
	}
	n.Search, n.Next = resolver.NameSearch{}, "urn:a1:99"
	if p = w.Names(&n); len(p.Body) > 30_000 {
		t.Errorf("%d bytes", len(p.Body))
	}
	rows = 0
	for _, e := range read(t, p.Body) {
		if strings.HasPrefix(e.attrs["href"], "/resolver/uri-res/") {
			rows++
		}
		if e.name == "a" && e.text == "More" {
			u, err := url.Parse(e.attrs["href"])
			if err != nil || u.Query().Get("after") != n.List[rows-1].Name {
				t.Errorf("%v: the list goes on behind %.20s, and has %d rows", err, u.Query().Get("after"), rows)
			}
		}
	}
	if rows < 2 || rows == 50 {
		t.Errorf("%d rows", rows)
	}
}

// If only some readers may list names, no other page links to the list.
func TestNamesInFrame(t *testing.T) {
	site := library(t)
	for browses, want := range map[bool]int{false: 0, true: 1} {
		site.HasNameList = browses
		w := pages.New(site).In(pages.English)
		if n := strings.Count(string(w.Home(false).Body), `"/resolver/names"`); n != want {
			t.Errorf("%v: %d links", browses, n)
		}
		if strings.Contains(string(w.Home(true).Body), `"/resolver/names"`) {
			t.Error("a host of names leads to the list")
		}
	}
	ns, _ := pages.New(site).In(pages.English).Namespace("isbn", 12_345)
	if !strings.Contains(string(ns.Body), `href="/resolver/names?prefix=urn%3Aisbn%3A">12,345 names`) {
		t.Errorf("%s", ns.Body)
	}
	if ns, _ = pages.New(site).In(pages.English).Namespace("isbn",
		pages.UnknownCount); strings.Contains(string(ns.Body), "Names in the registry") {
		t.Errorf("%s", ns.Body)
	}
}

func BenchmarkNames(b *testing.B) {
	w, n := pages.New(library(b)).In(pages.German), listedNames()["names"]
	for b.Loop() {
		w.Names(&n)
	}
}
