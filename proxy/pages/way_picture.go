package pages

import (
	"html/template"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The picture of a way, in its own units: boxes below each other. What was asked on the way, and what was not used, is further right, and the
// line of the way passes it.
const (
	wayWidth   = 360
	wayGap     = 14
	wayNear    = 6 // between boxes that belong together
	wayIndent  = 24
	wayLine    = 14 // from a line of text to the next one
	wayLetters = 52 // of a line, as far as a box is wide
	wayLeading = 10 // from the left, where the line of the way is
)

// The classes of boxes: see the section way of style.css.
const (
	wayLeft  = "left"  // of a rule that was not used
	wayTaken = "taken" // of a rule that was used
	wayEnd   = "end"   // of where the way leads
	wayFails = "fails" // of why it leads nowhere
)

// wayBox is a box of the picture.
type wayBox struct {
	class      literal
	x          int
	head, side string // what the first line has, on the left and on the right
	lines      []string
}

// height returns that of a box.
func (b *wayBox) height() int { return (len(b.lines)+1)*wayLine + 10 }

// add adds a text in at most so many lines.
func (b *wayBox) add(text string, most int) {
	width := wayLetters - b.x/6
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

// cutLine returns so much of a text as a line has room for, and the rest: between words, where there are some.
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

// oneLine returns so much of a text as a line has room for, with the mark that it goes on. It is not plaintext.Shorten, which counts bytes: a
// line of the picture has room for characters of different widths.
func oneLine(text string, width int) string {
	line, rest := cutLine(text, width)
	if rest != "" {
		line += "…"
	}
	return line
}

// widthOf returns how wide a character is: those of Chinese are as two of Latin, and those of Isolated have no width. A line has no need for
// both of them, since each line is a paragraph of its own (UAX #9).
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

// draw returns the picture of boxes, as many as there is room for; "" for none. The list that says the same has the identifier "way".
func (r *room) draw(boxes []wayBox, most int) template.HTML {
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
	shown := strings.Count(string(drawn), "<rect") // no text has a tag
	if shown == 0 {
		return ""
	}
	height = tops[shown-1] + boxes[shown-1].height()
	var m markup
	m.tag(`<svg class="way" role="img" aria-describedby="way"`)
	m.attr("aria-label", r.Text("name.how_resolved"))
	m.attr("viewBox", "0 0 "+strconv.Itoa(wayWidth)+" "+strconv.Itoa(height))
	m.attr("width", strconv.Itoa(wayWidth))
	m.attr("height", strconv.Itoa(height))
	m.tag(">")
	return m.html() + drawn + "</svg>\n"
}

// gap returns the space between two boxes.
func gap(above, below *wayBox) int {
	if above.x > 0 && below.x > 0 {
		return wayNear
	}
	return wayGap
}

// draw draws a box with its text.
func (b *wayBox) draw(m *markup, y int) {
	if b.class != "" {
		m.tag(`<g class="`)
		m.tag(b.class)
		m.tag(`">`)
	}
	m.tag("<rect")
	at(m, b.x, y)
	m.attr("width", strconv.Itoa(wayWidth-b.x))
	m.attr("height", strconv.Itoa(b.height()))
	m.tag(` rx="4"/><text class="stage"`)
	at(m, b.x+8, y+wayLine+2)
	m.tag(">")
	m.text(oneLine(b.head, wayLetters-b.x/6))
	m.tag("</text>\n")
	if b.side != "" {
		m.tag(`<text class="side"`)
		at(m, wayWidth-8, y+wayLine+2)
		m.tag(">")
		m.text(b.side)
		m.tag("</text>\n")
	}
	for i, line := range b.lines {
		m.tag("<text")
		at(m, b.x+8, y+(i+2)*wayLine+2)
		m.tag(">")
		m.text(line)
		m.tag("</text>\n")
	}
	if b.class != "" {
		m.tag("</g>")
	}
}

// arrow draws the line of the way from a height down to a box.
func arrow(m *markup, y, from int) {
	m.tag(`<path d="M`)
	m.number(wayLeading)
	m.tag(" ")
	m.number(from)
	m.tag("V")
	m.number(y - 2)
	m.tag(`m-4-4 4 4 4-4"/>`)
}

// branch draws the line of the way from a height past a box, and what leads to that.
func branch(m *markup, b *wayBox, y, from int) {
	m.tag(`<path d="M`)
	m.number(wayLeading)
	m.tag(" ")
	m.number(from)
	m.tag("V")
	m.number(y + b.height())
	m.tag("M")
	m.number(wayLeading)
	m.tag(" ")
	m.number(y + wayLine)
	m.tag("H")
	m.number(b.x)
	m.tag(`"/>`)
}

func at(m *markup, x, y int) {
	m.attr("x", strconv.Itoa(x))
	m.attr("y", strconv.Itoa(y))
}
