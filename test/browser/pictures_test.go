//go:build e2e

package browser

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// TestPicturesOfDocs checks that the screenshots in the documentation can be made from a running urnd. "make
// pictures" writes them to docs/img.
func TestPicturesOfDocs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts Chromium")
	}
	directory := os.Getenv("URND_PICTURES")
	if directory == "" {
		directory = t.TempDir()
	}
	site := startBrowserSite(t, func(c *config.Config) { c.Listen.PublicURL = "https://urn.library.example" })
	browser := testserver.StartChromium(t) // it ends before urnd, which waits for its connections
	for range 30 {                         // for the figures on the status page
		for _, path := range []string{
			"/urn:example:book", "/urn:ietf:rfc:2648", "/urn:isbn:9780395363416",
			"/urn:example:old", "/urn:example:none", "/urn:isbn:0-395-36341-2", "/",
		} {
			site.Get(t, path)
		}
	}
	shown := []string{"start", "name", "namespace", "marked", "status"}
	for _, page := range sitePages(site) {
		if !slices.Contains(shown, page.name) {
			continue
		}
		url, _ := site.at(&page)
		browser.Show(t, url, testserver.Screen{Width: 1200, Height: 600, Dark: page.name == "marked"})
		browser.Run(t, `return Promise.all([...document.images].map(i => i.decode()))`)
		picture := smallPNG(t, browser.Screenshot(t))
		const most = 100_000
		if len(picture) > most {
			t.Errorf("the picture of %s has %d bytes", page.name, len(picture))
		}
		if err := os.WriteFile(filepath.Join(directory, page.name+".png"), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// smallPNG returns an image with its 256 most frequent colors; others are replaced by the nearest: pages have
// few colors, but many antialiased edges.
func smallPNG(t *testing.T, text []byte) []byte {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	bounds := picture.Bounds()
	opaque := image.NewRGBA(bounds)
	draw.Draw(opaque, bounds, picture, image.Point{}, draw.Src)
	counts := make(map[color.RGBA]int)
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			counts[opaque.RGBAAt(x, y)]++
		}
	}
	var colours color.Palette
	for _, c := range slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int { return counts[b] - counts[a] }) {
		if len(colours) < 256 {
			colours = append(colours, c)
		}
	}
	places := make(map[color.RGBA]uint8)
	for c := range counts {
		places[c] = uint8(colours.Index(c))
	}
	paletted := image.NewPaletted(bounds, colours)
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			paletted.SetColorIndex(x, y, places[opaque.RGBAAt(x, y)])
		}
	}
	var small bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&small, paletted); err != nil {
		t.Fatal(err)
	}
	return small.Bytes()
}
