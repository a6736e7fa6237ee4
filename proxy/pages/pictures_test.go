package pages_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/scheme"
)

// fetched returns the target at which a server retrieves a URI: see route.FetchTarget.
func fetched(u string) string { return "/fetch?uri=" + url.QueryEscape(u) }

// itself is the identity, for clients that use the proxy.
func itself(u string) string { return u }

// fixture returns the listing in testdata/listings/NAME.json.
func fixture(t testing.TB, name string) *scheme.Listing {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "listings", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	l := new(scheme.Listing)
	if err := decoder.Decode(l); err != nil {
		t.Fatal(err)
	}
	return l
}

// names returns the names of the fixtures.
func names(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/listings/*.json")
	if err != nil || len(paths) < 6 {
		t.Fatalf("%q, %v", paths, err)
	}
	for i, path := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(path), ".json")
	}
	return paths
}

// shownPages returns pages of all kinds, by name: listings, listings of long words only, and the pages of a
// site with all fields set, in all languages.
func shownPages(t testing.TB) map[string]pages.Page {
	t.Helper()
	all := make(map[string]pages.Page)
	for _, name := range names(t) {
		all[name] = english().Listing(fixture(t, name), fetched)
	}
	for _, kind := range kinds() { // no word can be broken
		all["long-"+kind] = english().Listing(filled(kind, strings.Repeat("long", 100)), fetched)
	}
	site := library(t)
	site.Base = ""
	d := pages.New(site)
	for _, l := range pages.Languages() {
		bounded, others := everyPage(t, d.In(l))
		for _, kind := range []string{
			"home", "fetch", "namespaces", "no namespace", "namespace nbn", "marked",
			"nothing", "withdrawn", "guess", "opens", "list", "description", "fetched Bad Gateway",
			"forwarded Forbidden",
		} {
			all[prefixOf(l)+strings.ToLower(strings.ReplaceAll(kind, " ", "-"))] = bounded[kind]
		}
		for name := range listedNames() {
			all[prefixOf(l)+strings.ReplaceAll(name, " ", "-")] = others[name]
		}
		for name := range named() {
			all["foreign-"+l.ShortTag()+"-name-"+name] = others["name "+name]
		}
		for name := range documented(t, d.In(l)) {
			if l == pages.English || name == "index" || name == "names" {
				all[prefixOf(l)+"docs-"+name] = others["docs "+name]
			}
		}
		for name := range explained() {
			all[prefixOf(l)+"explain-"+name] = others["explain "+name]
		}
	}
	return all
}

// prefixOf returns the prefix of the names of pages in a language: other languages than English have fewer
// screenshots.
func prefixOf(l pages.Language) string {
	if l == pages.English {
		return ""
	}
	return "foreign-" + l.ShortTag() + "-"
}

// serving returns the URL of a server with pages, as urnd would send them.
func serving(t testing.TB, all map[string]pages.Page) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := all[r.URL.Path[1:]]
		switch {
		case r.URL.Path == pages.PathLogoSVG:
			w.Header().Set("Content-Type", "image/svg+xml")
			w.Header().Set("Content-Security-Policy", pages.LogoPolicy)
			_, _ = w.Write(library(t).Logo.Bytes)
			return
		case r.URL.Path == pages.PathCopy:
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write(pages.CopyScript())
			return
		case !ok:
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", pages.ContentType)
		w.Header().Set("Content-Security-Policy", page.Policy)
		_, _ = w.Write(page.Body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// WCAG 2.2 level AA, as far as axe-core can test it, in the light and the dark theme, in wide and narrow
// windows, in which pages fit; and screenshots, for which URND_PICTURES is a directory. Each page is shown on
// one of the screens, and on all of them in long tests and for screenshots.
func TestPictures(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts Chromium")
	}
	axe, all := testserver.AxeCore(t), shownPages(t)
	server := serving(t, all)
	isLong := func(name string) bool { return strings.HasPrefix(name, "long-") }
	shown := slices.Sorted(maps.Keys(all))
	short := slices.DeleteFunc(slices.Clone(shown), isLong)
	testserver.OnScreens(t, short, func(t *testing.T, screen testserver.Screen, names []string) {
		browser := testserver.StartChromium(t)
		for place, name := range names {
			browser.Show(t, server+"/"+name, screen)
			checkFits(t, browser, name, screen)
			// Pages in other languages differ from those in English only in their texts: a sample is enough.
			const share = 5
			if strings.HasPrefix(name, "foreign-") && place%share > 0 && !testserver.EveryScreen() {
				continue
			}
			checkPicture(t, name, browser.Screenshot(t), screen)
			browser.SaveScreenshot(t, name, screen)
			for _, violation := range browser.AxeViolations(t, axe) {
				t.Errorf("%s: %.600s", name, violation)
			}
		}
		if screen.Dark || screen.Width > 400 {
			return
		}
		for _, name := range shown {
			if isLong(name) {
				browser.Show(t, server+"/"+name, screen)
				checkFits(t, browser, name, screen)
			}
		}
	})
}

// checkFits fails if the current page is wider than its window.
func checkFits(t *testing.T, browser *testserver.Chromium, name string, screen testserver.Screen) {
	t.Helper()
	var sides struct{ Width, Inner int }
	browser.Evaluate(t, `({Width: document.scrollingElement.scrollWidth, Inner: innerWidth})`, &sides)
	if sides.Width > sides.Inner || sides.Inner != screen.Width {
		t.Errorf("%s: %d pixels of page in %d", name, sides.Width, sides.Inner)
	}
	var wide []string
	browser.Evaluate(t,
		`[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))`, &wide)
	if len(wide) > 0 {
		t.Errorf("%s: behind the edge: %q", name, wide)
	}
}

// The checks usually made by hand: zoom of 400 percent (WCAG 2.2 criterion 1.4.10), targets of 24 pixels
// (2.5.8), and keyboard navigation (2.4.3, 2.4.7): the first link of a page skips to its content, and the
// focus is visible.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts Chromium")
	}
	server, browser := serving(t, shownPages(t)), testserver.StartChromium(t)
	for _, name := range []string{"marked", "directory"} {
		browser.Show(t, server+"/"+name, testserver.Screen{Width: 320, Height: 256}) // 1280 by 1024 at 400 percent
		var sides struct{ Width, Inner int }
		browser.Evaluate(t, `({Width: document.scrollingElement.scrollWidth, Inner: innerWidth})`, &sides)
		if sides.Width > sides.Inner {
			t.Errorf("%s at 400 percent: %+v", name, sides)
		}
		var first struct {
			Href    string
			Left    float64
			Outline string
		}
		browser.Evaluate(t,
			`(a => {a.focus({focusVisible: true}); const s = getComputedStyle(a); return {Href: a.getAttribute("href"), Left: a.getBoundingClientRect().left, Outline: s.outlineStyle}})(document.querySelector("a"))`, &first)
		if first.Href != "#main" || first.Left < 0 || first.Outline == "none" {
			t.Errorf("%s: the first link is %+v", name, first)
		}
		var small []string
		browser.Evaluate(t,
			`[...document.querySelectorAll("nav a, button, input:not([type=hidden]), summary, .menu a, td a, tbody th a")].filter(e => {const r = e.getBoundingClientRect(); return r.width > 0 && r.height < 24}).map(e => e.outerHTML.slice(0, 80))`, &small)
		if len(small) > 0 {
			t.Errorf("%s: targets of less than 24 pixels: %q", name, small)
		}
	}
}

// checkPicture fails if a screenshot has another background than its screen requires, or is blank.
func checkPicture(t *testing.T, name string, text []byte, s testserver.Screen) {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	ground, _, _, _ := picture.At(0, picture.Bounds().Dy()-1).RGBA()
	if dark := ground < 0x8000; dark != s.Dark {
		t.Errorf("%s: the background is %#x", name, ground)
	}
	// Bands of a page have a background of their own.
	if share := written(picture); picture.Bounds().Dx() != s.Width || share < 0.002 || share > 0.7 {
		t.Errorf("%s: %v, %.1f %% of it are not background", name, picture.Bounds(), 100*share)
	}
}

// written returns the share of a picture that differs from its corner, sampled at every third point of every
// third line.
func written(picture image.Image) float64 {
	const step = 3
	bounds := picture.Bounds()
	ground, n, all := picture.At(0, 0), 0, 0
	for y := 0; y < bounds.Dy(); y += step {
		for x := 0; x < bounds.Dx(); x += step {
			if all++; picture.At(x, y) != ground {
				n++
			}
		}
	}
	return float64(n) / float64(all)
}
