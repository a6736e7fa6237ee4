package pages

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
)

// variables returns the colours of the style sheet of a site in light and dark mode.
func variables(t *testing.T, site Site) (day, night map[string]colour) {
	t.Helper()
	css := string(newSheet(site, "listing").element)
	light, rest, ok := strings.Cut(css, "@media screen and (prefers-color-scheme:dark)")
	dark, _, closed := strings.Cut(rest, "}}")
	if !ok || !closed {
		t.Fatalf("no rules for the night: %s", css)
	}
	read := func(rules string) map[string]colour {
		found := make(map[string]colour)
		for _, m := range regexp.MustCompile(`--([a-z]+): ?(#[0-9a-f]+)`).FindAllStringSubmatch(rules, -1) {
			digits := m[2]
			if len(digits) == len("#fff") {
				digits = fmt.Sprintf("#%c%c%c%c%c%c", digits[1], digits[1], digits[2], digits[2], digits[3], digits[3])
			}
			c, ok := parseColour(digits)
			if !ok {
				t.Fatalf("%q is not a colour", m[0])
			}
			found[m[1]] = c
		}
		return found
	}
	day = read(light)
	night = maps.Clone(day)
	maps.Copy(night, read(dark))
	return day, night
}

// All text is readable, in light and dark mode, with any colour of a site: WCAG 2.2 success criterion 1.4.3,
// level AA. Borders of warnings and fields have the contrast of criterion 1.4.11.
func TestContrast(t *testing.T) {
	for _, accent := range []string{
		"", "#0645ad", "#ffff00", "#ffffff", "#000000", "#808080", "#ff0000", "#00c000",
		"none", "#12345", "#1234567",
	} {
		day, night := variables(t, Site{Accent: accent})
		for theme, colours := range map[string]map[string]colour{"light": day, "dark": night} {
			const all = 9
			if len(colours) != all {
				t.Fatalf("%s: %v", theme, colours)
			}
			for _, ground := range []string{"ground", "band"} {
				for _, text := range []string{"ink", "faint", "visited", "accent"} {
					if got := contrast(colours[ground], colours[text]); got < readable {
						t.Errorf("%q, %s: %s on %s: %.2f", accent, theme, text, ground, got)
					}
				}
			}
			for _, border := range []string{"edge", "warn"} {
				if got := contrast(colours["ground"], colours[border]); got < 3 {
					t.Errorf("%s: the border %s: %.2f", theme, border, got)
				}
			}
		}
		if accents := []colour{day["accent"], night["accent"]}; accent == "#0645ad" && accents[0].String() != accent {
			t.Errorf("%s became %v", accent, accents)
		}
	}
	// The backgrounds that accents are computed for are those of the style sheet.
	day, night := variables(t, Site{})
	for got, want := range map[colour]string{
		day["ground"]: lightGround, day["band"]: lightBand,
		night["ground"]: darkGround, night["band"]: darkBand,
	} {
		if got.String() != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := contrast(colour{}, colour{1, 1, 1}); got < 20.99 || got > 21.01 {
		t.Errorf("black on white: %f", got)
	}
}
