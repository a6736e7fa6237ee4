package pages_test

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// fetched returns the target at which a server retrieves a URI: see route.Fetched.
func fetched(u string) string { return "/fetch?uri=" + url.QueryEscape(u) }

// itself is for clients that ask a proxy.
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

// names returns those of the fixtures.
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

// shownPages are pages of all kinds, by their names: listings, those that have nothing but long words, and those of a site with all
// that one may have, in all languages.
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
	for name, p := range operatorPages(d.Apart()) {
		all[name] = p
	}
	for _, l := range pages.Languages() {
		bounded, others := everyPage(t, d.In(l))
		for _, kind := range []string{"home", "fetch", "namespaces", "no namespace", "namespace nbn", "marked", "nothing", "withdrawn", "guess", "opens", "list", "description", "fetched Bad Gateway", "forwarded Forbidden"} {
			all[prefixOf(l)+strings.ToLower(strings.ReplaceAll(kind, " ", "-"))] = bounded[kind]
		}
		for name := range listedNames() {
			all[prefixOf(l)+strings.ReplaceAll(name, " ", "-")] = others[name]
		}
		for name := range named() {
			all["foreign-"+l.Word()+"-name-"+name] = others["name "+name]
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

// prefixOf returns what the names of pages in a language begin with: of those in another than English there are fewer pictures.
func prefixOf(l pages.Language) string {
	if l == pages.English {
		return ""
	}
	return "foreign-" + l.Word() + "-"
}

// serving returns the address of a server with pages, as urnd would send them.
func serving(t testing.TB, all map[string]pages.Page) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := all[r.URL.Path[1:]]
		switch {
		case r.URL.Path == pages.PathLogoSVG:
			w.Header().Set("Content-Type", "image/svg+xml")
			w.Header().Set("Content-Security-Policy", pages.LogoPolicy)
			_, _ = w.Write(library(t).Logo.Octets)
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

// WCAG 2.2 level AA, as far as axe-core can tell, by day and at night, on wide and narrow windows; and what one looks for by
// hand: 400 percent of zoom (criterion 1.4.10), targets of 24 pixels (2.5.8), the way of the keyboard (2.4.3, 2.4.7).
func TestAccessible(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts Chromium")
	}
	axe := testserver.AxeCore(t)
	all := shownPages(t)
	server := serving(t, all)
	browser := testserver.StartChromium(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(name, "long-") {
			continue
		}
		for _, screen := range []testserver.Screen{{Width: 1200, Height: 900}, {Width: 400, Height: 800, Dark: true}, {Width: 1200, Height: 900, Dark: true}, {Width: 400, Height: 800}} {
			if strings.HasPrefix(name, "foreign-") && screen.Dark == (screen.Width > 400) {
				continue
			}
			browser.Show(t, server+"/"+name, screen)
			for _, violation := range browser.AxeViolations(t, axe) {
				t.Errorf("%s, %+v: %.600s", name, screen, violation)
			}
		}
	}
	checkKeyboard(t, browser, server)
}

// checkKeyboard fails where the first link of a page does not skip to its content, or what has the focus is not seen.
func checkKeyboard(t *testing.T, browser *testserver.Chromium, server string) {
	t.Helper()
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
		browser.Evaluate(t, `(a => {a.focus({focusVisible: true}); const s = getComputedStyle(a); return {Href: a.getAttribute("href"), Left: a.getBoundingClientRect().left, Outline: s.outlineStyle}})(document.querySelector("a"))`, &first)
		if first.Href != "#main" || first.Left < 0 || first.Outline == "none" {
			t.Errorf("%s: the first link is %+v", name, first)
		}
		var small []string
		browser.Evaluate(t, `[...document.querySelectorAll("nav a, button, input:not([type=hidden]), summary, .menu a, td a, tbody th a")].filter(e => {const r = e.getBoundingClientRect(); return r.width > 0 && r.height < 24}).map(e => e.outerHTML.slice(0, 80))`, &small)
		if len(small) > 0 {
			t.Errorf("%s: targets of less than 24 pixels: %q", name, small)
		}
	}
}

// Pages fit a small window, and are dark for who wants them so. URND_PICTURES is a directory for the
// pictures.
func TestPictures(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts Chromium")
	}
	directory := os.Getenv("URND_PICTURES")
	if directory == "" {
		directory = t.TempDir()
	}
	all := shownPages(t)
	server := serving(t, all)
	browser := testserver.StartChromium(t)
	shown := slices.Sorted(maps.Keys(all))
	for _, name := range shown {
		for _, screen := range []testserver.Screen{
			{Width: 1200, Height: 900},
			{Width: 1200, Height: 900, Dark: true},
			{Width: 400, Height: 800},
			{Width: 400, Height: 800, Dark: true},
		} {
			isLong := strings.HasPrefix(name, "long-")
			isForeign := strings.HasPrefix(name, "foreign-")
			if (isLong || isForeign) && (screen.Dark || screen.Width > 400) {
				continue
			}
			theme := "light"
			if screen.Dark {
				theme = "dark"
			}
			file := fmt.Sprintf("%s-%d-%s.png", name, screen.Width, theme)
			browser.Show(t, server+"/"+name, screen)
			var sides struct{ Width, Inner, Height int }
			browser.Evaluate(t, `({Width: document.scrollingElement.scrollWidth, Inner: innerWidth, Height: document.scrollingElement.scrollHeight})`, &sides)
			if sides.Width > sides.Inner || sides.Inner != screen.Width {
				t.Errorf("%s: %d pixels of page in %d", file, sides.Width, sides.Inner)
			}
			var wide []string
			browser.Evaluate(t, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))`, &wide)
			if len(wide) > 0 {
				t.Errorf("%s: behind the edge: %q", file, wide)
			}
			if isLong {
				continue
			}
			picture := browser.Picture(t)
			if err := os.WriteFile(filepath.Join(directory, file), picture, 0o600); err != nil {
				t.Fatal(err)
			}
			checkPicture(t, file, picture, screen)
		}
	}
}

// checkPicture fails where a picture has another background than its screen asks for, or shows nothing.
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
	if share := written(picture); picture.Bounds().Dx() != s.Width || share < 0.002 || share > 0.7 { // what was asked for is on a ground of its own
		t.Errorf("%s: %v, %.1f %% of it are not background", name, picture.Bounds(), 100*share)
	}
}

// written returns how much of a picture differs from its corner, by every third point of every third line.
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
