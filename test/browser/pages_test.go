//go:build e2e

package browser

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// zoomed is a window of 1280 by 1024 pixels at a zoom of 400 percent (WCAG 2.2 criterion 1.4.10), with reduced
// motion.
func zoomed() testserver.Screen {
	return testserver.Screen{Width: 320, Height: 256, ReducedMotion: true}
}

// browserPage is a page of the table in a browser.
type browserPage struct {
	*sitePage
	*testserver.Chromium
	url, origin string
}

// TestPagesInBrowser checks the requirements of docs/pages.md for each page of a running urnd in Chromium.
func TestPagesInBrowser(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts Chromium")
	}
	axe := testserver.AxeCore(t)
	site := startBrowserSite(t, nil)
	for place, page := range sitePages(site) {
		t.Run(page.name, func(t *testing.T) {
			t.Parallel()
			b := browserPage{sitePage: &page, Chromium: testserver.StartChromium(t)}
			b.url, b.origin = site.at(&page)
			b.checkReply(t)
			for _, screen := range testserver.ScreensOf(place) {
				b.checkShown(t, screen)
				for _, violation := range b.AxeViolations(t, axe) {
					t.Errorf("%+v: axe: %.600s", screen, violation)
				}
				b.checkWithoutScript(t, screen)
				b.checkForced(t, screen.Dark)
				b.checkPrinted(t, screen.Dark)
			}
			b.checkKeyboard(t)
			b.checkForm(t)
		})
	}
}

// checkReply fails if a page is not the expected one, is too long, or has excessive permissions.
func (b *browserPage) checkReply(t *testing.T) {
	t.Helper()
	reply := urndtest.Send(t, "GET "+b.url, "", "Accept: text/html", // with the fields of a browser for a typed URL
		"Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Sec-Fetch-User: ?1")
	const most = 30_000
	if reply.Status != b.status || !b.isList && len(reply.Body) > most {
		t.Errorf("%d, %d bytes", reply.Status, len(reply.Body))
	}
	policy := reply.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") ||
		reply.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%v", reply.Header)
	}
}

// checkShown shows a page, and fails if it requests missing or external resources, logs to the console, shifts
// its layout while loading, or does not fit.
func (b *browserPage) checkShown(t *testing.T, screen testserver.Screen) {
	t.Helper()
	var seen testserver.Observations
	testserver.Wait(t, "few follow the events", func() bool { // event streams of the previous page end within a second
		b.Show(t, b.url, screen)
		seen = b.Observations(t)
		return b.live == "" || len(seen.Failures) == 0
	})
	if len(seen.Requests) == 0 || len(seen.Failures)+len(seen.Messages) > 0 {
		t.Errorf("%+v: %q", screen, seen)
	}
	for _, request := range seen.Requests {
		// The browser draws date fields with its own images; the policy permits none for the page.
		if u, err := url.Parse(request); err != nil || u.Scheme != "data" && u.Scheme+"://"+u.Host != b.origin {
			t.Errorf("it asks for %s", request)
		}
	}
	var shown struct {
		Heading      string
		Width, Inner int
		Shift        float64
		Moving       int
		Text         string
	}
	const look = `new Promise(resolve => {
		let shift = 0
		new PerformanceObserver(list => list.getEntries().forEach(e => shift += e.value)).observe({type: "layout-shift", buffered: true})
		requestAnimationFrame(() => setTimeout(() => resolve({
			Heading: document.querySelector("h1").innerText, Text: document.body.innerText, Shift: shift, Moving: document.getAnimations().length,
			Width: document.scrollingElement.scrollWidth, Inner: innerWidth,
		})))
	})`
	most := 0.0
	if b.admin {
		most = 0.01 // a number may become wider, and a long table is drawn while it is received
	}
	b.Evaluate(t, look, &shown)
	const tries = 3
	for i := 1; shown.Shift > most && i < tries; i++ { // the window may have been resized while the page was drawn
		b.Show(t, b.url, screen)
		b.Evaluate(t, look, &shown)
	}
	if !strings.Contains(shown.Heading, b.heading) || shown.Shift > most || shown.Moving != 0 ||
		shown.Width > shown.Inner || shown.Inner != screen.Width {
		t.Errorf("%+v: %+v", screen, shown)
	}
	for _, text := range b.has {
		if !screen.Print && !strings.Contains(shown.Text, text) {
			t.Errorf("no %s in %.600q", text, shown.Text)
		}
	}
}

// durations matches the ages of cached entries, which increase.
var durations = regexp.MustCompile(`\b(\d+ h )?(\d+ min )?\d+ s\b`)

// checkWithoutScript fails if the page on a screen has another text without scripts.
func (b *browserPage) checkWithoutScript(t *testing.T, screen testserver.Screen) {
	t.Helper()
	with := b.text(t)
	screen.NoScript = true
	b.Show(t, b.url, screen)
	if without := b.text(t); with != without || len(with) < 100 {
		t.Errorf("with scripts the text is %q, and without %q", with, without)
	}
}

// text returns the text of the current page without parts that differ each time.
func (b *browserPage) text(t *testing.T) string {
	t.Helper()
	var text string
	b.Evaluate(t, `(live => {
		live.forEach(e => e.textContent = "")
		document.querySelectorAll(".copy").forEach(e => e.remove()) // buttons that only a script shows, since it does what they say
		document.querySelectorAll("time").forEach(e => e.textContent = e.dateTime) // which a script shows in the zone of the reader
		return document.body.innerText
	})(`+b.alive()+`)`, &text)
	return durations.ReplaceAllString(strings.Join(strings.Fields(text), " "), "a while")
}

// alive is a JavaScript expression for the parts that differ each time.
func (b *browserPage) alive() string {
	if b.live == "" {
		return "[]"
	}
	return `document.querySelectorAll("` + b.live + `")`
}
