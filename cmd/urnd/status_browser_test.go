package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// awaitText waits until the text of the first element of a selector has a part.
func awaitText(t *testing.T, browser *testserver.Chromium, selector, part string) {
	t.Helper()
	testserver.Wait(t, selector+" says "+part, func() bool {
		var text string
		browser.Evaluate(t, fmt.Sprintf(`(document.querySelector(%q) || {}).textContent || ""`, selector), &text)
		return strings.Contains(text, part)
	})
}

// In a browser the page for operators goes live, shows what happens without being loaded again, and follows urnd over reloads. It asks
// nobody else, and the browser complains of nothing.
func TestStatusPageInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts Chromium")
	}
	w := startDaemon(t, "127.0.0.1:9", 0, nil)
	browser := testserver.StartChromium(t)
	browser.Show(t, w.admin+"/status", testserver.Screen{Width: 1200, Height: 900})
	awaitText(t, browser, "#live", "The figures are live.")
	const asked = `#requests td[data-of="all"]`
	for n := range 3 {
		if got := w.get(t, "/urn:x:"); got.status != http.StatusBadRequest {
			t.Fatal(got.status)
		}
		awaitText(t, browser, asked, fmt.Sprint(n+1))
	}
	w.clock.advance(2 * time.Second)
	awaitText(t, browser, "#rate b", "1.5/s")
	w.hangups <- syscall.SIGHUP
	w.waitForLog(t, "reload")
	w.get(t, "/urn:x:")
	awaitText(t, browser, asked, "4") // it has come again
	awaitText(t, browser, "#live", "The figures are live.")
	w.setLoad(func() (config.Config, error) { return config.Config{}, errors.New("dns.timeout: <too long>") })
	w.hangups <- syscall.SIGHUP
	awaitText(t, browser, "#verdict.warning", "dns.timeout: <too long>")
	awaitText(t, browser, "#faults tr.critical, #faults tr.warning", "dns.timeout: <too long>")
	seen := browser.Sighted(t)
	if len(seen.Messages) > 0 || len(seen.Failures) > 0 {
		t.Errorf("the browser has noticed %q, %q", seen.Messages, seen.Failures)
	}
	events := 0
	for _, request := range seen.Requests {
		if !strings.HasPrefix(request, w.admin+"/") {
			t.Errorf("the page asks for %s", request)
		}
		if strings.HasSuffix(request, "/events") {
			events++
		}
	}
	if events < 2 {
		t.Errorf("it has asked for %q", seen.Requests)
	}
	checkCachesPage(t, w, browser)
}

// checkCachesPage purges all answers as a person does.
func checkCachesPage(t *testing.T, w *testDaemon, browser *testserver.Chromium) {
	t.Helper()
	if got := w.get(t, "/urn:isbn:9780395363416"); got.status != http.StatusFound {
		t.Fatal(got.status)
	}
	browser.Show(t, w.admin+"/caches?uri=urn:isbn:9780395363416", testserver.Screen{Width: 400, Height: 800})
	awaitText(t, browser, "main", "urn:isbn:9780395363416")
	for _, step := range []struct{ sure, want string }{{"", "only where it is said"}, {"form[method=post] [type=checkbox]", "were removed."}} {
		browser.Run(t, `const f = document.querySelector("form[method=post]"); f.by.value = "all"; f.mode.value = "hard"`)
		if step.sure != "" {
			browser.Click(t, step.sure)
		}
		browser.Click(t, "form[method=post] button.danger")
		awaitText(t, browser, ".said", step.want)
	}
	if got := w.cacheStates(t, "/urn:isbn:9780395363416"); got != "miss" {
		t.Errorf("behind a purge: %s", got)
	}
	if seen := browser.Sighted(t); len(seen.Messages) > 0 {
		t.Errorf("the browser has noticed %q", seen.Messages)
	}
	w.waitForLog(t, `"msg":"a cache was purged"`)
}
