package testserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Chromium is a page of a headless browser. Its methods must not be called concurrently.
type Chromium struct {
	session *session
	seen    observer // of the current page
}

// StartChromium opens a page that is closed when the test ends. Tests with the same flags share a browser;
// flags are those of Chromium, such as "--proxy-server=http://127.0.0.1:8141". The page has its own browser
// context: cookies and cache are not shared with other tests.
func StartChromium(t testing.TB, flags ...string) *Chromium {
	t.Helper()
	p := sharedChromiums().use(t, flags)
	c := &Chromium{}
	if err := c.open(p, t.Cleanup); err != nil {
		t.Fatalf("chromium: %v", err)
	}
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		c.call(t, domain+".enable", nil, nil)
	}
	c.call(t, "Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil)
	return c
}

// open opens the page in its own context.
func (c *Chromium) open(p *chromiumProcess, cleanup func(func())) error {
	var context struct{ BrowserContextID string }
	if err := p.send("Target.createBrowserContext", nil, &context); err != nil {
		return err
	}
	cleanup(func() {
		// It may have ended.
		_ = p.send("Target.disposeBrowserContext", map[string]any{"browserContextId": context.BrowserContextID}, nil)
		p.forget(c.session)
	})
	var target struct{ TargetID string }
	if err := p.send("Target.createTarget",
		map[string]any{"url": "about:blank", "browserContextId": context.BrowserContextID}, &target); err != nil {
		return err
	}
	var attached struct{ SessionID string }
	if err := p.send("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true},
		&attached); err != nil {
		return err
	}
	c.session = p.session(attached.SessionID)
	c.session.note = c.note
	return nil
}

// call calls a method and sets result to its response.
func (c *Chromium) call(t testing.TB, method string, params, result any) {
	t.Helper()
	if err := c.session.ask(method, params, result); err != nil {
		t.Fatalf("chromium: %s: %v", method, err)
	}
}

// evaluation is the response of Runtime.evaluate.
type evaluation struct {
	Result           struct{ Value json.RawMessage }
	ExceptionDetails json.RawMessage
}

// Evaluate sets value to the value of a JavaScript expression in the page, or of the promise that it returns,
// even if the page has scripts disabled. If the page is about to be replaced, the expression may be evaluated
// again in the next page; use Run for expressions with side effects.
func (c *Chromium) Evaluate(t testing.TB, expression string, value any) {
	t.Helper()
	var outcome evaluation
	params := map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}
	err := c.session.ask("Runtime.evaluate", params, &outcome)
	for tries := 0; errors.As(err, new(devtoolsError)) && tries < maxTries; tries++ { // the page has been replaced
		err = c.session.ask("Runtime.evaluate", params, &outcome)
	}
	if err != nil {
		t.Fatalf("chromium: Runtime.evaluate: %v", err)
	}
	if outcome.ExceptionDetails != nil {
		t.Fatalf("%s: %s", expression, outcome.ExceptionDetails)
	}
	if err := json.Unmarshal(outcome.Result.Value, value); err != nil {
		t.Fatalf("%s: %s: %v", expression, outcome.Result.Value, err)
	}
}

// Run executes JavaScript statements in the page once, and waits for the promise that they return, if any.
// Values are ignored, because the result of functions such as scrollIntoView depends on the browser version.
func (c *Chromium) Run(t testing.TB, statements string) {
	t.Helper()
	var outcome evaluation
	c.call(t, "Runtime.evaluate",
		map[string]any{"expression": "(() => {" + statements + "\n})()", "awaitPromise": true}, &outcome)
	if outcome.ExceptionDetails != nil {
		t.Fatalf("%s: %s", statements, outcome.ExceptionDetails)
	}
}

// Click scrolls to the first element that matches a selector, and clicks its center with user activation.
func (c *Chromium) Click(t testing.TB, selector string) {
	t.Helper()
	c.Run(t,
		fmt.Sprintf(`document.querySelector(%q).scrollIntoView({behavior: "instant", block: "nearest", inline: "nearest"})`, selector))
	var at struct{ X, Y float64 }
	c.Evaluate(t,
		fmt.Sprintf(`(r => ({X: r.x + r.width / 2, Y: r.y + r.height / 2}))(document.querySelector(%q).getClientRects()[0])`, selector), &at)
	for _, event := range []string{"mousePressed", "mouseReleased"} {
		c.call(t, "Input.dispatchMouseEvent",
			map[string]any{"type": event, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

// Cookies returns the cookies that the browser sends to the current page, as a Cookie header field.
func (c *Chromium) Cookies(t testing.TB) string {
	t.Helper()
	var has struct {
		Cookies []struct{ Name, Value string }
	}
	c.call(t, "Network.getCookies", nil, &has)
	var all []string
	for _, cookie := range has.Cookies {
		all = append(all, cookie.Name+"="+cookie.Value)
	}
	return strings.Join(all, "; ")
}

// ClearCookies removes all cookies of the page's browser context.
func (c *Chromium) ClearCookies(t testing.TB) {
	t.Helper()
	c.call(t, "Network.clearBrowserCookies", nil, nil)
}

// Screenshot returns a screenshot of the page as PNG.
func (c *Chromium) Screenshot(t testing.TB) []byte {
	t.Helper()
	var picture struct{ Data []byte }
	c.call(t, "Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &picture)
	return picture.Data
}
