package pages_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/forward"
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
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", pages.ContentType)
		w.Header().Set("Content-Security-Policy", forward.DocumentPolicy)
		page := pages.Fetch()
		name := r.URL.Path[1:]
		if kind, isLong := strings.CutPrefix(name, "long-"); isLong {
			page = pages.Listing(filled(kind, strings.Repeat("long", 100)), fetched)
		} else if name != "fetch" {
			page = pages.Listing(fixture(t, name), fetched)
		}
		_, _ = w.Write(page)
	}))
	defer server.Close()
	browser := testserver.StartChromium(t)
	shown := append(names(t), "fetch")
	for _, kind := range kinds() {
		shown = append(shown, "long-"+kind) // no word can be broken
	}
	for _, name := range shown {
		for _, screen := range []testserver.Screen{
			{Width: 1200, Height: 900},
			{Width: 1200, Height: 900, Dark: true},
			{Width: 400, Height: 800},
			{Width: 400, Height: 800, Dark: true},
		} {
			isLong := strings.HasPrefix(name, "long-")
			if isLong && (screen.Dark || screen.Width > 400) {
				continue
			}
			theme := "light"
			if screen.Dark {
				theme = "dark"
			}
			file := fmt.Sprintf("%s-%d-%s.png", name, screen.Width, theme)
			browser.Show(t, server.URL+"/"+name, screen)
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
	if share := written(picture); picture.Bounds().Dx() != s.Width || share < 0.002 || share > 0.5 {
		t.Errorf("%s: %v, %.1f %% of it are not background", name, picture.Bounds(), 100*share)
	}
}

// written returns how much of a picture differs from its corner.
func written(picture image.Image) float64 {
	bounds := picture.Bounds()
	ground, n := picture.At(0, 0), 0
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			if picture.At(x, y) != ground {
				n++
			}
		}
	}
	return float64(n) / float64(bounds.Dx()*bounds.Dy())
}
