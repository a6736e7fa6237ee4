package testserver

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Chromium is a browser without windows, which shows one page. Its methods must not be called concurrently.
type Chromium struct {
	in      *os.File
	out     *bufio.Reader
	last    int
	session string
	silence *time.Timer // ends a read when the browser has said nothing for long
	seen    sighting    // of the page that is shown
}

// StartChromium starts a browser that is asked by the Chrome DevTools Protocol, through pipes, and
// stopped when the test ends. flags are those of Chromium.
func StartChromium(t testing.TB, flags ...string) *Chromium {
	t.Helper()
	path, dir := Need(t, "chromium"), t.TempDir()
	theirs, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	arguments := []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
		"--disable-component-update", "--no-first-run", "--disable-extensions", "--hide-scrollbars", "--user-data-dir=" + filepath.Join(dir, "profile"),
		"--remote-debugging-pipe",
	}
	cmd := exec.Command(path, append(append(arguments, flags...), "about:blank")...)
	cmd.ExtraFiles = []*os.File{theirs, theirOut} // descriptors 3 and 4
	p, err := startCommand(dir, filepath.Join(dir, "log"), cmd)
	if err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	theirOut.Close()
	c := &Chromium{in: in, out: bufio.NewReader(out), silence: time.AfterFunc(2*Patience, func() { out.Close() })}
	t.Cleanup(func() {
		c.silence.Stop()
		c.end(t, p)
		in.Close()
		out.Close()
	})
	var target struct{ TargetID string }
	c.call(t, "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	c.call(t, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	c.session = attached.SessionID
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		c.call(t, domain+".enable", nil, nil)
	}
	c.call(t, "Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil)
	return c
}

// end closes the browser, and waits for it.
func (c *Chromium) end(t testing.TB, p *process) {
	_, _ = c.send("Browser.close", nil)
	killed := time.AfterFunc(Patience, sync.OnceFunc(func() { _ = p.cmd.Process.Kill() }))
	defer killed.Stop()
	<-p.done
	if !p.cmd.ProcessState.Success() {
		t.Logf("chromium: %s", p.cmd.ProcessState)
	}
}

// evaluation is what Runtime.evaluate replies.
type evaluation struct {
	Result           struct{ Value json.RawMessage }
	ExceptionDetails json.RawMessage
}

// Evaluate sets value to that of an expression of JavaScript in the page, or of the promise that it is, also where the page itself
// may have no script. The expression may be evaluated again in the next page, where one is about to be replaced: see Run for what
// changes the page.
func (c *Chromium) Evaluate(t testing.TB, expression string, value any) {
	t.Helper()
	var outcome evaluation
	params := map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}
	err := c.ask("Runtime.evaluate", params, &outcome)
	for tries := 0; errors.As(err, new(devtoolsError)) && tries < maxTries; tries++ { // the page is another one by now
		err = c.ask("Runtime.evaluate", params, &outcome)
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

// Run runs statements of JavaScript in the page once, and waits for the promise that they return, if they do. Values are ignored:
// what a function such as scrollIntoView returns is another thing in another version of a browser.
func (c *Chromium) Run(t testing.TB, statements string) {
	t.Helper()
	var outcome evaluation
	c.call(t, "Runtime.evaluate", map[string]any{"expression": "(() => {" + statements + "\n})()", "awaitPromise": true}, &outcome)
	if outcome.ExceptionDetails != nil {
		t.Fatalf("%s: %s", statements, outcome.ExceptionDetails)
	}
}

// Click scrolls to the first element of a selector, and clicks its middle, as a person does.
func (c *Chromium) Click(t testing.TB, selector string) {
	t.Helper()
	c.Run(t, fmt.Sprintf(`document.querySelector(%q).scrollIntoView({behavior: "instant", block: "nearest", inline: "nearest"})`, selector))
	var at struct{ X, Y float64 }
	c.Evaluate(t, fmt.Sprintf(`(r => ({X: r.x + r.width / 2, Y: r.y + r.height / 2}))(document.querySelector(%q).getClientRects()[0])`, selector), &at)
	for _, event := range []string{"mousePressed", "mouseReleased"} {
		c.call(t, "Input.dispatchMouseEvent", map[string]any{"type": event, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

// Picture returns what the page looks like, as a PNG.
func (c *Chromium) Picture(t testing.TB) []byte {
	t.Helper()
	var picture struct{ Data []byte }
	c.call(t, "Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &picture)
	return picture.Data
}
