package pages_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/pages"
)

// luminance is that of WCAG 2.2, "relative luminance", of a colour such as "#0645ad" or "#fff".
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	digits := strings.TrimPrefix(colour, "#")
	if len(digits) == 3 {
		digits = strings.Repeat(digits[:1], 2) + strings.Repeat(digits[1:2], 2) + strings.Repeat(digits[2:], 2)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(digits[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

// themes returns the rules of the styles of a page by day, and those that are different at night.
func themes(page string) (day, night string) {
	for _, part := range strings.Split(page, "<style>")[1:] {
		style, _, _ := strings.Cut(part, "</style>")
		light, dark, _ := strings.Cut(style, "@media (prefers-color-scheme: dark)")
		day, night = day+light, night+dark
	}
	return day, night
}

// All text can be read, by day and at night: WCAG 2.2 success criterion 1.4.3, level AA. What bounds a warning
// has the contrast of criterion 1.4.11.
func TestContrast(t *testing.T) {
	background := regexp.MustCompile(`body \{[^}]*background: (#[0-9a-f]+)`)
	colours := regexp.MustCompile(`([.a-z:, ]+) \{(?:[^}]*;)? color: (#[0-9a-f]+)`)
	borders := regexp.MustCompile(`(\.warning) \{ border(?:-color)?:[^;}]*(#[0-9a-f]+)`)
	for name, page := range map[string][]byte{"home": pages.Home(), "listing": pages.Listing(fixture(t, "telnet"), fetched)} {
		day, night := themes(string(page))
		for theme, rules := range map[string]string{"light": day, "dark": night} {
			ground := background.FindStringSubmatch(rules)
			found := colours.FindAllStringSubmatch(rules, -1)
			if ground == nil || len(found) < 4 {
				t.Fatalf("%s, %s: %d colours on %v", name, theme, len(found), ground)
			}
			contrast := func(rule []string, least float64) {
				a, b := luminance(t, ground[1]), luminance(t, rule[2])
				if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < least {
					t.Errorf("%s, %s: %s of %s on %s: %.2f", name, theme, rule[2], rule[1], ground[1], ratio)
				}
			}
			for _, rule := range found {
				if rule[1] = strings.TrimSpace(rule[1]); rule[1] != "mark" { // on a background of its own
					contrast(rule, 4.5)
				}
			}
			border := borders.FindStringSubmatch(rules)
			if border == nil && name == "listing" {
				t.Fatalf("%s: no border of warnings", theme)
			} else if border != nil {
				contrast(border, 3)
			}
		}
	}
}
