package pages

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// styles is the style sheet of all pages. Each section begins with a comment such as "section home: the start
// page", and has one rule per line. A page inlines the sections that it needs, so that it is rendered from a
// single response, also at the URL of another server.
//
//go:embed style.css
var styles string

// sheet is the inline style sheet of a page, and the policy that allows no other.
type sheet struct {
	element template.HTML
	policy  string
}

// newSheet returns the base and other sections of the style sheet, in their order, with the colours of a
// site.
func newSheet(site Site, sections ...string) sheet {
	var all strings.Builder
	for part := range strings.SplitSeq(styles, "/* section ") {
		head, rules, _ := strings.Cut(part, " */\n")
		if name, _, _ := strings.Cut(head, ":"); name == "base" || slices.Contains(sections, name) {
			all.WriteString(rules)
		}
	}
	light, dark := accents(site.Accent)
	css := strings.NewReplacer("ACCENT-LIGHT", light, "ACCENT-DARK", dark, " { ", "{", " }\n", "}", "{\n", "{", "}\n",
		"}", "; ", ";", ": ", ":").Replace(all.String())
	sum := sha256.Sum256([]byte(css))
	made := sheet{
		element: template.HTML("<style>" + css + "</style>"), //nolint:gosec // constant but for two parsed colours
		policy: noSources + "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; " +
			"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	}
	if site.Logo != nil {
		made = made.withImages()
	}
	return made
}

// withImages returns the sheet of pages with images of this server.
func (s sheet) withImages() sheet {
	if !strings.Contains(s.policy, "img-src") {
		s.policy = strings.Replace(s.policy, "form-action", "img-src 'self'; form-action", 1)
	}
	return s
}

// noSources is the beginning of the policy of a page.
const noSources = "default-src 'none'; "

// withScripts returns the sheet of a page with scripts of its server.
func (s sheet) withScripts() sheet { return s.with("script-src 'self'; ") }

// withEvents returns the sheet of a page whose scripts connect to its server.
func (s sheet) withEvents() sheet { return s.with("connect-src 'self'; ") }

// with returns the sheet with another directive in its policy.
func (s sheet) with(directive string) sheet {
	s.policy = noSources + directive + strings.TrimPrefix(s.policy, noSources)
	return s
}

// Background colours of pages and of bands on them, in light and dark mode: style.css.
const (
	lightGround, lightBand = "#ffffff", "#f4f6f8"
	darkGround, darkBand   = "#16181c", "#1f2328"

	lightAccent, darkAccent = "#0645ad", "#8ab4f8"
)

// readable is the minimum contrast of text: WCAG 2.2 success criterion 1.4.3, level AA.
const readable = 4.5

// colour is an sRGB colour, each component between 0 and 1.
type colour [3]float64

// parseColour parses a colour of the form #rrggbb; ok is false for other texts.
func parseColour(text string) (colour, bool) {
	digits, ok := strings.CutPrefix(text, "#")
	n, err := strconv.ParseUint(digits, 16, 32)
	const six = 6
	if !ok || err != nil || len(digits) != six {
		return colour{}, false
	}
	return colour{float64(n>>16&0xff) / 0xff, float64(n>>8&0xff) / 0xff, float64(n&0xff) / 0xff}, true
}

func (c colour) String() string {
	part := func(f float64) int { return int(math.Round(f * 0xff)) }
	return fmt.Sprintf("#%02x%02x%02x", part(c[0]), part(c[1]), part(c[2]))
}

// luminance returns the relative luminance of WCAG 2.2.
func (c colour) luminance() float64 {
	sum := 0.0
	for i, weight := range [...]float64{0.2126, 0.7152, 0.0722} {
		part := c[i]
		if part <= 0.04045 {
			part /= 12.92
		} else {
			part = math.Pow((part+0.055)/1.055, 2.4)
		}
		sum += weight * part
	}
	return sum
}

// contrast returns the contrast ratio of WCAG 2.2: between 1 and 21.
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// accents returns the colours of links and buttons in light and dark mode: that of a site, made darker or
// lighter until it is readable, or those of urnd for an invalid one.
func accents(of string) (light, dark string) {
	c, ok := parseColour(of)
	if !ok {
		return lightAccent, darkAccent
	}
	return toward(c, colour{}, lightGround, lightBand), toward(c, colour{1, 1, 1}, darkGround, darkBand)
}

// toward returns a colour mixed with as much of another one as is needed for a readable contrast on all
// backgrounds.
func toward(c, other colour, grounds ...string) string {
	const steps = 50
	for i := range steps {
		share := float64(i) / steps
		var mixed colour
		for j := range c {
			mixed[j] = c[j]*(1-share) + other[j]*share
		}
		isReadable := true
		for _, ground := range grounds {
			g, _ := parseColour(ground)
			rounded, _ := parseColour(mixed.String())
			isReadable = isReadable && contrast(rounded, g) >= readable
		}
		if isReadable {
			return mixed.String()
		}
	}
	return other.String()
}
