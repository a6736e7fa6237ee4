//go:build e2e

package browser

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// checkPrinted shows a page in print. Browsers also print a dark theme if they are set to print backgrounds.
func (b *browserPage) checkPrinted(t *testing.T, dark bool) {
	t.Helper()
	b.checkShown(t, testserver.Screen{Width: 800, Height: 1100, Dark: dark, Print: true})
	var printed struct{ Controls, Faint []string }
	b.Evaluate(t, `({
		Controls: [...document.querySelectorAll("nav, form, button, input:not([type=hidden]), .skip")].filter(e => e.checkVisibility()).map(e => e.outerHTML.slice(0, 100)),
		Faint: [...document.querySelectorAll("body, body *")].filter(e => e.checkVisibility() && e.innerText && !e.closest("svg")).filter(e => {
			const s = getComputedStyle(e), sum = color => (color.match(/[\d.]+/g) || []).slice(0, 3).reduce((a, n) => a + +n, 0), clear = /, 0\)|transparent/
			return sum(s.color) > 3 * 110 || !clear.test(s.backgroundColor) && sum(s.backgroundColor) < 3 * 150
		}).map(e => getComputedStyle(e).color + " on " + getComputedStyle(e).backgroundColor + ": " + e.outerHTML.slice(0, 100)),
	})`, &printed)
	if len(printed.Controls)+len(printed.Faint) > 0 {
		t.Errorf("on paper, dark %t: %q", dark, printed)
	}
}

// checkForced shows a page with forced colors, and fails if it uses a color of its own, which might be
// invisible. Computed styles contain the colors requested by the page, so it checks a screenshot. Images have
// their own colors, and checkboxes are drawn by the browser.
func (b *browserPage) checkForced(t *testing.T, dark bool) {
	t.Helper()
	b.checkShown(t, testserver.Screen{Width: 600, Height: 800, Dark: dark, ForcedColors: true})
	var page struct{ Own, Flat []string }
	b.Evaluate(t, `(root => {
		document.querySelectorAll("img").forEach(e => e.remove())
		return {
			Own: ["ink", "ground", "faint", "line", "edge", "band", "visited", "warn", "accent"].map(name => root.getPropertyValue("--" + name).trim()),
			Flat: [...document.querySelectorAll("button, input:not([type=hidden], [type=checkbox], [type=radio]), select, textarea")].filter(e => getComputedStyle(e).borderStyle === "none").map(e => e.outerHTML.slice(0, 100)),
		}
	})(getComputedStyle(document.documentElement))`, &page)
	if len(page.Flat) > 0 {
		t.Errorf("without a border in forced colours, which have no ground: %q", page.Flat)
	}
	picture, err := png.Decode(bytes.NewReader(b.Screenshot(t)))
	if err != nil {
		t.Fatal(err)
	}
	pixels := image.NewRGBA(picture.Bounds())
	draw.Draw(pixels, picture.Bounds(), picture, image.Point{}, draw.Src)
	for _, text := range append(page.Own, "#ffd54d") { // of marks
		own := hexColor(t, text)
		data := []byte{own.R, own.G, own.B, own.A}
		isSystem := own.R == own.G && own.G == own.B
		if !isSystem && bytes.Contains(pixels.Pix, data) { // all pixels are opaque: a match begins at a pixel
			t.Errorf("there are pixels of the colour %s", text)
		}
	}
}

// hexColor parses a color in the form #rgb or #rrggbb.
func hexColor(t *testing.T, text string) color.RGBA {
	t.Helper()
	c := color.RGBA{A: 0xff}
	format, scale := "#%02x%02x%02x", uint8(1)
	if len(text) == 4 {
		format, scale = "#%1x%1x%1x", 0x11
	}
	if _, err := fmt.Sscanf(text, format, &c.R, &c.G, &c.B); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	c.R, c.G, c.B = c.R*scale, c.G*scale, c.B*scale
	return c
}
