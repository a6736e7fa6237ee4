//go:build e2e

package browser

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// focused is the focused element: its index in the document when stops was evaluated, -1 for the document
// itself; and the element that hides it, if any.
type focused struct {
	Place            int
	Element, Outline string
	IsInView         bool
}

// focus is a JavaScript expression for focused.
const focus = `(e => {
	if (!e || e === document.body) return {Place: -1}
	const style = getComputedStyle(e), box = [...e.getClientRects()].find(r => r.width > 0) || e.getBoundingClientRect()
	const middle = (from, to, end) => (Math.max(0, from) + Math.min(to, end)) / 2 // of what is in the window
	const x = middle(box.left, box.right, innerWidth), y = middle(box.top, box.bottom, innerHeight)
	const top = document.elementFromPoint(x, y)
	return {
		Place: e.place, Element: e.outerHTML.slice(0, 100), Outline: style.outlineStyle + " " + style.outlineWidth,
		IsInView: box.width > 0 && !!top && (e === top || e.contains(top) || top.contains(e)),
	}
})(document.activeElement)`

// stops is a JavaScript expression for the indexes of all elements that must be reachable by keyboard: all
// visible controls. A live page may add elements later.
const stops = `(all => all.filter((e, i) => {
	e.place = i
	return e.matches("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']") && e.checkVisibility()
}).map(e => e.place))([...document.querySelectorAll("*")])`

// checkKeyboard moves through a page with the Tab key in a small window: WCAG 2.2 criteria 2.1.1, 2.1.2, 2.4.1,
// 2.4.3, 2.4.7 and 2.4.11. The first stop skips to the content, each stop is visible, they are in the order of
// the text, include all controls, and none traps the focus.
func (b *browserPage) checkKeyboard(t *testing.T) {
	t.Helper()
	b.checkShown(t, zoomed())
	var want []int
	b.Evaluate(t, stops, &want)
	if len(want) == 0 {
		t.Fatal("nothing can be used")
	}
	var places []int
	for range 4*len(want) + 2 { // all stops, and the document itself, from the initial focus of the page
		b.Press(t, "Tab")
		var f focused
		b.Evaluate(t, focus, &f)
		if len(places) > 0 && places[len(places)-1] == f.Place { // a date field has a stop for each part
			continue
		}
		if slices.Contains(places, f.Place) {
			break
		}
		places = append(places, f.Place)
		if f.Place >= 0 && (!f.IsInView || strings.HasPrefix(f.Outline, "none") ||
			strings.HasSuffix(f.Outline, " 0px")) {
			t.Errorf("the focus is not seen: %+v", f)
		}
	}
	places = slices.DeleteFunc(places, func(place int) bool { return place < 0 })
	if first := slices.Index(places, want[0]); first > 0 { // the page has set the focus
		places = slices.Concat(places[first:], places[:first])
	}
	if !slices.Equal(places, want) {
		t.Errorf("the keyboard goes to the elements %v, want %v", places, want)
	}
	var first string
	b.Evaluate(t, fmt.Sprintf(`document.querySelectorAll("*")[%d].getAttribute("href")`, want[0]), &first)
	if first != "#main" {
		t.Errorf("the first stop is %q", first)
	}
	b.Run(t, fmt.Sprintf(`document.querySelectorAll("*")[%d].focus()`, want[0]))
	b.Press(t, "Enter")
	var skipped string
	testserver.Wait(t, "the focus is in the content", func() bool {
		b.Evaluate(t, `document.activeElement.id`, &skipped)
		return skipped == "main"
	})
}

// checkForm fills the first field of a page and presses Enter in it.
func (b *browserPage) checkForm(t *testing.T) {
	t.Helper()
	if b.types == "" {
		return
	}
	b.Show(t, b.url, testserver.Screens()[0])
	b.Run(t, `const e = document.querySelector("input:not([type=hidden]), textarea"); e.focus(); e.select()`)
	b.Type(t, b.types)
	b.Press(t, "Enter")
	var at string
	testserver.Wait(t, "the form has led on", func() bool {
		b.Evaluate(t, `document.readyState === "complete" ? location.href : ""`, &at)
		return at != "" && at != b.url
	})
	if u, err := url.Parse(at); err != nil || !strings.HasPrefix(u.RequestURI(), b.goes) {
		t.Errorf("the form leads to %s, want %s", at, b.goes)
	}
}
