package pages

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The grounds of pages in light and in dark, and of what is set off on them: style.css.
const (
	lightGround, lightBand = "#ffffff", "#f4f6f8"
	darkGround, darkBand   = "#16181c", "#1f2328"

	lightAccent, darkAccent = "#0645ad", "#8ab4f8"
)

// readable is the contrast that text has at least: WCAG 2.2 success criterion 1.4.3, level AA.
const readable = 4.5

// colour is one of sRGB, each part of it between 0 and 1.
type colour [3]float64

// parseColour returns the colour of a text, and whether a text is a colour of the form #rrggbb.
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

// luminance is the relative luminance of WCAG 2.2.
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

// contrast is that of WCAG 2.2 between two colours: between 1 and 21.
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// accents returns the colours of links and buttons in light and in dark: that of a site, made darker and lighter until it can be
// read, or those of urnd where it is none.
func accents(of string) (light, dark string) {
	c, ok := parseColour(of)
	if !ok {
		return lightAccent, darkAccent
	}
	return toward(c, colour{}, lightGround, lightBand), toward(c, colour{1, 1, 1}, darkGround, darkBand)
}

// toward returns a colour mixed with as much of another one as it needs to be read on all grounds.
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
