package pages

import (
	"html/template"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Geometry of the picture of a resolution trace, in user units: boxes below each other. Queries to servers,
// and rules that were not used, are indented, and the main line passes them.
const (
	traceWidth   = 360
	traceGap     = 14
	traceNearGap = 6 // between related boxes
	traceIndent  = 24
	traceLine    = 14 // line height
	traceLetters = 52 // characters of a line in the widest box
	traceLeft    = 10 // position of the main line from the left
)

// Classes of boxes: see the section "trace" of style.css.
const (
	traceUnused = "unused" // a rule that was not used
	traceUsed   = "used"   // a rule that was used
	traceEnd    = "end"    // the target
	traceFailed = "failed" // the error
)

// traceBox is a box of the picture.
type traceBox struct {
	class      literal
	x          int
	head, side string // the left and the right part of the first line
	lines      []string
}

// height returns the height of a box.
func (b *traceBox) height() int { return (len(b.lines)+1)*traceLine + 10 }

// add adds a text in at most so many lines.
func (b *traceBox) add(text string, most int) {
	width := traceLetters - b.x/6
	for ; most > 1; most-- {
		line, rest := cutLine(text, width)
		if rest == "" {
			break
		}
		b.lines = append(b.lines, line)
		text = rest
	}
	b.lines = append(b.lines, oneLine(text, width))
}

// cutLine splits a text after the part that fits in a line, between words if possible.
func cutLine(text string, width int) (line, rest string) {
	n, space := 0, 0
	for i, c := range text {
		if n += widthOf(c); n > width {
			if space > i/2 {
				i = space
			}
			return text[:i], strings.TrimPrefix(text[i:], " ")
		}
		if c == ' ' {
			space = i
		}
	}
	return text, ""
}

// oneLine returns a text cut to a line, with an ellipsis. It is not plaintext.Shorten, which counts bytes,
// since characters have different widths.
func oneLine(text string, width int) string {
	line, rest := cutLine(text, width)
	if rest != "" {
		line += "…"
	}
	return line
}

// widthOf returns the width of a character: CJK characters count twice, and those of Isolated have no width.
// A cut line may lack the closing one, since each line is a paragraph of its own (UAX #9).
func widthOf(c rune) int {
	if c == '\u2068' || c == '\u2069' {
		return 0
	}
	const firstWide = '\u2E80' // CJK radicals
	if c >= firstWide && c != utf8.RuneError {
		return 2
	}
	return 1
}

// draw returns the picture of the boxes that fit; "" for none. The list with the ID "trace" is its text
// alternative.
func (r *sizeBudget) draw(boxes []traceBox, most int) template.HTML {
	tops, height := make([]int, len(boxes)), 0
	for i := range boxes {
		if i > 0 {
			height += gap(&boxes[i-1], &boxes[i])
		}
		tops[i] = height
		height += boxes[i].height()
	}
	drawn, _ := r.items(most, len(boxes), func(m *markup, i int) {
		b, y := &boxes[i], tops[i]
		b.draw(m, y)
		switch {
		case i == 0:
		case b.x > 0:
			branch(m, b, y, tops[i-1]+boxes[i-1].height())
		default:
			arrow(m, y, tops[i-1]+boxes[i-1].height())
		}
	})
	shown := strings.Count(string(drawn), "<rect") // no text contains a tag
	if shown == 0 {
		return ""
	}
	height = tops[shown-1] + boxes[shown-1].height()
	var m markup
	m.tag(`<svg class="trace" role="img" aria-describedby="trace"`)
	m.attr("aria-label", r.Text("name.how_resolved"))
	m.attr("viewBox", "0 0 "+strconv.Itoa(traceWidth)+" "+strconv.Itoa(height))
	m.attr("width", strconv.Itoa(traceWidth))
	m.attr("height", strconv.Itoa(height))
	m.tag(">")
	return m.html() + drawn + "</svg>\n"
}

// gap returns the space between two boxes.
func gap(above, below *traceBox) int {
	if above.x > 0 && below.x > 0 {
		return traceNearGap
	}
	return traceGap
}

// draw draws a box with its text.
func (b *traceBox) draw(m *markup, y int) {
	if b.class != "" {
		m.tag(`<g class="`)
		m.tag(b.class)
		m.tag(`">`)
	}
	m.tag("<rect")
	at(m, b.x, y)
	m.attr("width", strconv.Itoa(traceWidth-b.x))
	m.attr("height", strconv.Itoa(b.height()))
	m.tag(` rx="4"/><text class="stage"`)
	at(m, b.x+8, y+traceLine+2)
	m.tag(">")
	m.text(oneLine(b.head, traceLetters-b.x/6))
	m.tag("</text>\n")
	if b.side != "" {
		m.tag(`<text class="side"`)
		at(m, traceWidth-8, y+traceLine+2)
		m.tag(">")
		m.text(b.side)
		m.tag("</text>\n")
	}
	for i, line := range b.lines {
		m.tag("<text")
		at(m, b.x+8, y+(i+2)*traceLine+2)
		m.tag(">")
		m.text(line)
		m.tag("</text>\n")
	}
	if b.class != "" {
		m.tag("</g>")
	}
}

// arrow draws the main line from a height down to a box.
func arrow(m *markup, y, from int) {
	m.tag(`<path d="M`)
	m.number(traceLeft)
	m.tag(" ")
	m.number(from)
	m.tag("V")
	m.number(y - 2)
	m.tag(`m-4-4 4 4 4-4"/>`)
}

// branch draws the main line from a height past a box, and the branch to it.
func branch(m *markup, b *traceBox, y, from int) {
	m.tag(`<path d="M`)
	m.number(traceLeft)
	m.tag(" ")
	m.number(from)
	m.tag("V")
	m.number(y + b.height())
	m.tag("M")
	m.number(traceLeft)
	m.tag(" ")
	m.number(y + traceLine)
	m.tag("H")
	m.number(b.x)
	m.tag(`"/>`)
}

func at(m *markup, x, y int) {
	m.attr("x", strconv.Itoa(x))
	m.attr("y", strconv.Itoa(y))
}
