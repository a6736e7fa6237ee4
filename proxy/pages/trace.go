package pages

import (
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver"
)

// trace returns a resolution trace as a picture, and as list items with more details.
func (r *sizeBudget) trace(steps []resolver.Step) (picture, items template.HTML) {
	steps = steps[:min(len(steps), mostSteps)]
	items, _ = r.items(budgetSteps, len(steps), func(m *markup, i int) {
		m.tag("<li>")
		r.step(m, &steps[i], budgetText/2)
		m.tag("</li>\n")
	})
	boxes := make([]traceBox, 0, len(steps))
	for i := range min(len(steps), strings.Count(string(items), "</li>")) {
		boxes = append(boxes, r.newTraceBox(&steps[i]))
	}
	return r.draw(boxes, budgetTrace), items
}

// isQuery reports whether a stage is a query to a server within a resolution system.
func isQuery(stage string) bool { return stage == "dns" || stage == "thttp" }

// stageOf returns the text for the resolution system of a step.
func (w Writer) stageOf(s *resolver.Step) string {
	if id := "stage." + s.Stage; w.Has(id) {
		return w.Text(id)
	}
	return s.Stage
}

// messageOf returns the message identifier of a step, by its code, which is an error code for a system
// without an answer; "" for none.
func (w Writer) messageOf(s *resolver.Step) string {
	for _, id := range [...]string{"step." + s.Code, "error." + s.Code} {
		if w.Has(id) {
			return id
		}
	}
	return ""
}

// stepOf returns the text of a step. A step without a message is in English.
func (w Writer) stepOf(s *resolver.Step) string {
	if id := w.messageOf(s); id != "" {
		return w.Text(id, valuesOf(s.Values, w.asText)...)
	}
	return s.Detail
}

// step appends the text of a step, with at most so many bytes of its detail.
func (r *sizeBudget) step(m *markup, s *resolver.Step, most int) {
	stage, _ := fitting(r.stageOf(s), budgetText/8)
	m.tag("<b>")
	m.text(stage)
	m.tag("</b> ")
	if id := r.messageOf(s); id != "" {
		m.element(r.T(id, valuesOf(s.Values, func(name, value any) any {
			if text, ok := value.(string); ok {
				value, _ = fitting(text, most/2)
			}
			return r.asElement(name, value)
		})...))
	} else {
		detail, _ := fitting(s.Detail, most)
		m.element(r.InEnglish(detail))
	}
	if s.Took > 0 {
		m.tag(" <small>")
		m.text(duration(s.Took))
		m.tag("</small>")
	}
}

// newTraceBox returns a step as a box of two lines.
func (w Writer) newTraceBox(s *resolver.Step) traceBox {
	b := traceBox{head: w.stageOf(s)}
	if isQuery(s.Stage) {
		b.x = traceIndent
	}
	if s.Rule != nil && s.Rule.Use != resolver.RuleUsed {
		b.x, b.class = traceIndent, traceUnused
	}
	b.add(w.stepOf(s), 1)
	return b
}

// duration formats the duration of a step with three significant digits: "12.3 ms".
func duration(d time.Duration) string {
	unit, word := time.Microsecond, " µs"
	switch {
	case d >= time.Second:
		unit, word = time.Second, " s"
	case d >= time.Millisecond:
		unit, word = time.Millisecond, " ms"
	}
	return strconv.FormatFloat(float64(d)/float64(unit), 'g', 3, 64) + word
}
