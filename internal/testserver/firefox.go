package testserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Firefox is a headless browser with one page. Its methods must not be called concurrently.
type Firefox struct {
	conn net.Conn
	in   *bufio.Reader
	last int
}

// firefoxPrefs restricts connections to the hosts named by the test, and selects a free port.
const firefoxPrefs = `user_pref("marionette.port", 0);
user_pref("network.dns.localDomains", %q);
user_pref("network.proxy.type", 0);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("dom.security.https_first", false);
user_pref("dom.disable_open_during_load", false);
user_pref("app.update.enabled", false);
user_pref("browser.safebrowsing.malware.enabled", false);
user_pref("browser.safebrowsing.phishing.enabled", false);
user_pref("toolkit.telemetry.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
`

// StartFirefox starts a browser, controlled by its remote protocol Marionette, that is stopped when the test
// ends. Host names resolve to this machine, and certificates are not verified.
func StartFirefox(t testing.TB, hosts ...string) *Firefox {
	t.Helper()
	path, dir := Need(t, "firefox-esr"), t.TempDir()
	profile := filepath.Join(dir, "profile")
	if err := os.Mkdir(profile, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(profile, "user.js"), fmt.Appendf(nil, firefoxPrefs, strings.Join(hosts, ",")),
		0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-remote", "--marionette", "--profile", profile)
	cmd.Env = append(os.Environ(), "HOME="+dir, "MOZ_CRASHREPORTER_DISABLE=1")
	p, err := startCommand(dir, filepath.Join(dir, "log"), cmd)
	if err != nil {
		t.Fatal(err)
	}
	f := &Firefox{}
	t.Cleanup(func() {
		if f.conn != nil {
			f.conn.Close()
		}
		if err := p.ended(); err != nil {
			t.Errorf("firefox: %v", err)
		}
		_ = p.stop() // after the signal it has an exit status of its own
	})
	listens := func() (bool, error) {
		port, err := os.ReadFile(filepath.Join(profile, "MarionetteActivePort"))
		if err != nil || len(port) == 0 {
			return false, nil //nolint:nilerr // it is starting, which takes long if other browsers are running
		}
		f.conn, err = net.Dial("tcp", "127.0.0.1:"+strings.TrimSpace(string(port)))
		return err == nil, nil
	}
	if pollFor(3*Timeout, listens) != nil {
		t.Fatal("Firefox does not listen")
	}
	f.in = bufio.NewReader(f.conn)
	if _, err := f.receive(); err != nil { // greeting
		t.Fatal(err)
	}
	f.call(t, "WebDriver:NewSession", map[string]any{"acceptInsecureCerts": true}, nil)
	return f
}

// Show opens a URL and waits until it is loaded.
func (f *Firefox) Show(t testing.TB, url string) {
	t.Helper()
	f.call(t, "WebDriver:Navigate", map[string]any{"url": url}, nil)
}

// Evaluate sets value to the value of a JavaScript expression in the page, or in the next page if the page is
// about to be replaced.
func (f *Firefox) Evaluate(t testing.TB, expression string, value any) {
	t.Helper()
	var result struct{ Value json.RawMessage }
	var err error
	late := poll(func() (bool, error) {
		err = f.ask("WebDriver:ExecuteScript",
			map[string]any{"script": "return " + expression, "args": []any{}, "sandbox": nil}, &result)
		return err == nil, nil
	})
	if late == nil {
		err = json.Unmarshal(result.Value, value)
	}
	if err != nil {
		t.Fatalf("%s: %s: %v", expression, result.Value, err)
	}
}

// Run executes JavaScript statements in the page once, and waits for the promise that they return, if any.
// Values are ignored.
func (f *Firefox) Run(t testing.TB, statements string) {
	t.Helper()
	script := "return Promise.resolve((() => {" + statements + "\n})()).then(() => null)"
	f.call(t, "WebDriver:ExecuteScript", map[string]any{"script": script, "args": []any{}, "sandbox": nil}, nil)
}

// Click clicks the first element that matches a selector, with user activation.
func (f *Firefox) Click(t testing.TB, selector string) {
	t.Helper()
	var found struct{ Value map[string]string }
	f.call(t, "WebDriver:FindElement", map[string]any{"using": "css selector", "value": selector}, &found)
	for _, id := range found.Value {
		f.call(t, "WebDriver:ElementClick", map[string]any{"id": id}, nil)
	}
}

// call calls a command and sets result to its response.
func (f *Firefox) call(t testing.TB, command string, params, result any) {
	t.Helper()
	if err := f.ask(command, params, result); err != nil {
		t.Fatalf("firefox: %s: %v", command, err)
	}
}

func (f *Firefox) ask(command string, params, result any) error {
	f.last++
	text, err := json.Marshal([]any{0, f.last, command, params})
	if err == nil {
		_, err = fmt.Fprintf(f.conn, "%d:%s", len(text), text)
	}
	var reply []json.RawMessage
	for err == nil && len(reply) == 0 {
		if text, err = f.receive(); err == nil {
			err = json.Unmarshal(text, &reply)
		}
	}
	if err == nil && (len(reply) != 4 || string(reply[2]) != "null") {
		err = fmt.Errorf("it replies %s", text)
	}
	if err == nil && result != nil {
		err = json.Unmarshal(reply[3], result)
	}
	return err
}

// receive returns the next message: its length, a colon and JSON.
func (f *Firefox) receive() ([]byte, error) {
	if err := f.conn.SetReadDeadline(time.Now().Add(2 * Timeout)); err != nil {
		return nil, err
	}
	length, err := f.in.ReadString(':')
	if err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	n, err := strconv.Atoi(strings.TrimSuffix(length, ":"))
	if err != nil || n < 0 || n > 16<<20 {
		return nil, fmt.Errorf("%q is no length", length)
	}
	text := make([]byte, n)
	_, err = io.ReadFull(f.in, text)
	return text, err
}
