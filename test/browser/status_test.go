//go:build e2e

package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// awaitText waits until the page is parsed and the first element of a selector contains part. Text at the top
// of a page that is still being received would not imply that the form below exists.
func awaitText(t *testing.T, browser *testserver.Chromium, selector, part string) {
	t.Helper()
	testserver.Wait(t, selector+" says "+part, func() bool {
		var text string
		browser.Evaluate(t,
			fmt.Sprintf(`document.readyState !== "loading" && (document.querySelector(%q) || {}).textContent || ""`,
				selector), &text)
		return strings.Contains(text, part)
	})
}

// TestStatusPageInBrowser checks that the operators' page updates itself without reloading, and follows urnd
// across reloads. It makes no external requests, and the browser reports no errors.
func TestStatusPageInBrowser(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts Chromium")
	}
	w := urndtest.Start(t, "127.0.0.1:9", nil)
	browser := testserver.StartChromium(t)
	browser.Show(t, w.Admin+"/status", testserver.Screen{Width: 1200, Height: 900})
	awaitText(t, browser, "#live", "updated every ten seconds")
	const shown = `table[aria-labelledby=requests] td[data-of="all"]`
	if got := w.Get(t, "/urn:x:"); got.Status != http.StatusBadRequest {
		t.Fatal(got.Status)
	}
	show := func() { browser.Run(t, `document.dispatchEvent(new Event("visibilitychange"))`) } // like every ten seconds
	show()
	awaitText(t, browser, shown, "1")
	w.Reload(t, func(c *config.Config) { c.Log.Format = "<none>" })
	const refused = `log.format: "<none>" is not`
	testserver.Wait(t, "the reload that was refused is shown", func() (shown bool) {
		show()
		browser.Evaluate(t,
			`(document.querySelector(".verdict.warning") || {textContent: ""}).textContent.includes('log.format')`,
			&shown)
		return shown
	})
	awaitText(t, browser, "table[aria-labelledby=errors]", refused)
	seen := browser.Observations(t)
	if len(seen.Messages) > 0 || len(seen.Failures) > 0 {
		t.Errorf("the browser has noticed %q, %q", seen.Messages, seen.Failures)
	}
	for _, request := range seen.Requests {
		if !strings.HasPrefix(request, w.Admin+"/") {
			t.Errorf("the page asks for %s", request)
		}
	}
	checkCachesPage(t, w, browser)
}

// checkCachesPage purges all answers like a user.
func checkCachesPage(t *testing.T, w *urndtest.Daemon, browser *testserver.Chromium) {
	t.Helper()
	if got := w.Get(t, "/urn:isbn:9780395363416"); got.Status != http.StatusFound {
		t.Fatal(got.Status)
	}
	browser.Show(t, w.Admin+"/caches?uri=urn:isbn:9780395363416", testserver.Screen{Width: 400, Height: 800})
	awaitText(t, browser, "main", "urn:isbn:9780395363416")
	for _, step := range []struct {
		sure, want string
	}{{"", "confirm it"}, {"form[method=post] [type=checkbox]", " removed."}} {
		browser.Run(t,
			`const f = document.querySelector("form[method=post]"); f.by.value = "all"; f.mode.value = "hard"`)
		if step.sure != "" {
			browser.Click(t, step.sure)
		}
		browser.Click(t, "form[method=post] button.danger")
		awaitText(t, browser, ".notice", step.want)
	}
	if got := w.CacheStates(t, "/urn:isbn:9780395363416"); got != "miss" {
		t.Errorf("behind a purge: %s", got)
	}
	if seen := browser.Observations(t); len(seen.Messages) > 0 {
		t.Errorf("the browser has noticed %q", seen.Messages)
	}
	w.WaitForLog(t, `"msg":"cache purged"`)
}
