package pages

import (
	"html/template"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver"
)

// The picture of a way, in its own units: boxes below each other, those of questions to servers further right than those of systems.
const (
	wayWidth   = 360
	wayBox     = 38
	wayGap     = 14
	wayIndent  = 24
	wayLetters = 52 // of what a step says, as far as a box is wide
)

// isQuestion reports whether a stage of a resolution is a question to a server, which a system asked on its way.
func isQuestion(stage string) bool { return stage == "dns" || stage == "thttp" }

// way returns how a name was resolved, as a picture and as the items of a list, which has more of what each step said.
func (r *room) way(steps []resolver.Step) (picture, items template.HTML) {
	steps = steps[:min(len(steps), mostSteps)]
	items, _ = r.items(roomSteps, len(steps), func(m *markup, i int) {
		stage, _ := fitting(steps[i].Stage, roomText/8)
		detail, _ := fitting(steps[i].Detail, roomText/2)
		m.tag("<li><b>")
		m.text(stage)
		m.tag("</b> ")
		m.text(detail)
		m.tag("</li>\n")
	})
	boxes, _ := r.items(roomWay, strings.Count(string(items), "</li>"), func(m *markup, i int) {
		box(m, &steps[i], i)
	})
	shown := strings.Count(string(boxes), "<rect") // no text has a tag
	if shown == 0 {
		return "", ""
	}
	height := strconv.Itoa(shown*(wayBox+wayGap) - wayGap)
	var m markup
	m.tag(`<svg class="way" role="img" aria-describedby="way"`)
	m.attr("aria-label", string(r.text().HowResolved))
	m.attr("viewBox", "0 0 "+strconv.Itoa(wayWidth)+" "+height)
	m.attr("width", strconv.Itoa(wayWidth))
	m.attr("height", height)
	m.tag(">")
	return m.html() + boxes + "</svg>\n", items
}

// box draws a step, and the arrow that leads to it from the one before.
func box(m *markup, s *resolver.Step, index int) {
	x, y := 0, index*(wayBox+wayGap)
	if isQuestion(s.Stage) {
		x = wayIndent
	}
	m.tag("<rect")
	at(m, x, y)
	m.attr("width", strconv.Itoa(wayWidth-x))
	m.tag(` height="38" rx="4"/><text class="stage"`)
	at(m, x+8, y+15)
	m.tag(">")
	m.text(letters(s.Stage, wayLetters))
	m.tag("</text><text")
	at(m, x+8, y+30)
	m.tag(">")
	m.text(letters(s.Detail, wayLetters-x/6))
	m.tag("</text>")
	if index > 0 {
		m.tag(`<path d="M48 `)
		*m = strconv.AppendInt(*m, int64(y-wayGap), 10)
		m.tag(`v12m-4-4 4 4 4-4"/>`)
	}
}

func at(m *markup, x, y int) {
	m.attr("x", strconv.Itoa(x))
	m.attr("y", strconv.Itoa(y))
}

// letters returns a text of at most so many characters, and the mark that it was cut.
func letters(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
