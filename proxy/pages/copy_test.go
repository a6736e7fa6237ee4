package pages_test

import (
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/pages"
)

// The buttons of the page about a name copy their text, and are only visible if they work.
func TestCopy(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts Chromium")
	}
	n := named()["located"]
	base := serving(t, map[string]pages.Page{"name": english().Name(&n)})
	browser := testserver.StartChromium(t)
	browser.Show(t, base+"/name", testserver.Screen{Width: 800, Height: 2000})
	var shown []string
	const look = `[...document.querySelectorAll("button.copy")].map(b => getComputedStyle(b).visibility)`
	browser.Evaluate(t, look, &shown)
	if len(shown) != 2 || shown[0] != "visible" || shown[1] != "visible" {
		t.Errorf("the buttons are %q", shown)
	}
	browser.Run(t, `navigator.clipboard.writeText = async text => { window.copied = text }`)
	for _, of := range []string{"name", "citation"} {
		var want, got string
		browser.Evaluate(t, `document.getElementById("`+of+`").textContent`, &want)
		browser.Click(t, `button[data-of="`+of+`"]`)
		browser.Evaluate(t, `window.copied`, &got)
		if got != want || got == "" {
			t.Errorf("copied is %q, and %s says %q", got, of, want)
		}
		testserver.Wait(t, "the button says so", func() bool {
			var message string
			browser.Evaluate(t, `document.querySelector('button[data-of="`+of+`"]').textContent`, &message)
			return message == "Copied"
		})
	}
}
