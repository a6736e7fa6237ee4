package admin_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/proxy/pages"
)

// fixedStatus is a state that does not change, and of which no time passes.
func fixedStatus() admin.Status {
	return admin.Status{
		State: func() pages.State {
			return pages.State{Severity: pages.OK, Verdict: "all is <well>", Figures: []pages.Figure{{ID: "rate", Name: "Rate", Text: "1/s", Line: "1,2 3,4"}}, Tables: fixedTables()}
		},
		Faults:   fixedTables,
		Ticks:    func(time.Duration) (<-chan time.Time, func()) { return nil, func() {} },
		Deadline: func(after time.Duration) time.Time { return time.Now().Add(after) },
	}
}

func fixedTables() []pages.Table {
	return []pages.Table{{ID: "state", Heading: "State", Columns: []string{"part", "state"}, Rows: []pages.Row{{Severity: pages.Critical, Cells: []string{"urnd", "<ready>"}}}}}
}

func TestStatusPage(t *testing.T) {
	h := newAdminHandler(&fakeCaches{}, nil)
	response := adminRequest(h, "127.0.0.1:1", "GET /status")
	page := text(t, response)
	for _, want := range []string{
		`<tbody id="state" aria-live="off">`, `<tr class="critical"><th scope="row">urnd</th><td data-of="state">&lt;ready&gt;</td>`, `<a href="/status">Reload</a>`,
		`<script src="/status.js" defer></script>`, `<a href="/config">`, `<h1>urnd: state</h1>`, `class="verdict ok"`, `all is &lt;well&gt;`,
		`<polyline points="1,2 3,4"/>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing in %s", want, page)
		}
	}
	policy := response.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'sha256-") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	if got := response.Header.Get("Cache-Control"); response.StatusCode != 200 || got != "no-store" {
		t.Errorf("%d, Cache-Control: %s", response.StatusCode, got)
	}
	_, style, _ := strings.Cut(page, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	if hash := base64.StdEncoding.EncodeToString(sum[:]); !strings.Contains(policy, "'sha256-"+hash+"'") || !strings.Contains(style, ".figures") {
		t.Errorf("the policy %q does not allow the style %s", policy, style)
	}
	index := adminRequest(h, "127.0.0.1:1", "GET /")
	if !strings.Contains(text(t, index), `<a href="/status">`) {
		t.Error("the index does not lead to the page")
	}
	if policy := index.Header.Get("Content-Security-Policy"); strings.Contains(policy, "script-src") {
		t.Errorf("the policy of the index is %q", policy)
	}
	script := adminRequest(h, "127.0.0.1:1", "GET /status.js")
	if body := text(t, script); script.Header.Get("Content-Type") != "text/javascript; charset=utf-8" ||
		script.Header.Get("X-Content-Type-Options") != "nosniff" || strings.Contains(body, "innerHTML") || !strings.Contains(body, `"/events"`) {
		t.Errorf("%v %s", script.Header, body)
	}
	for _, path := range []string{"/status", "/status.js", "/events", "/faults", "/config"} {
		if response := adminRequest(h, "127.0.0.1:1", "POST "+path); response.StatusCode != http.StatusMethodNotAllowed && response.StatusCode != http.StatusForbidden {
			t.Errorf("POST %s: %d", path, response.StatusCode)
		}
		if response := adminRequest(h, "192.0.2.1:1", "GET "+path); response.StatusCode != http.StatusForbidden {
			t.Errorf("%s by a stranger: %d", path, response.StatusCode)
		}
		if response := adminRequest(h, "127.0.0.1:1", "GET "+path, "Sec-Fetch-Site: cross-site"); response.StatusCode != http.StatusForbidden {
			t.Errorf("%s by a page of another site: %d", path, response.StatusCode)
		}
	}
}

// The configuration is shown with the origins of its values, to people and to programs.
func TestConfigurationPages(t *testing.T) {
	h := newAdminHandler(&fakeCaches{}, nil)
	for _, tt := range []struct {
		target string
		status int
		want   []string
	}{
		{"/config", 200, []string{"All settings have their defaults", `<a href="/config?section=dns">dns</a>`}},
		{"/config?q=2s", 200, []string{"1 found", `<code>&lt;2s&gt;</code>`}},
		{"/config?section=dns", 200, []string{"Section dns", `<code>dns.timeout</code>`}},
		{"/faults", 200, []string{"The last 50 warnings", "&lt;ready&gt;"}},
		{"/api/v1/config", 200, []string{`"timeout": "2s"`}},
		{"/api/v1/config?origins=false", 200, []string{`"timeout": "2s"`}},
		{"/api/v1/config?origins=true", 200, []string{`"setting": "dns.timeout"`, `"origin": "default"`}},
		{"/api/v1/config?origins=x", 400, []string{"origins must be true or false"}},
	} {
		response := adminRequest(h, "127.0.0.1:1", "GET "+tt.target)
		body := text(t, response)
		for _, want := range tt.want {
			if response.StatusCode != tt.status || !strings.Contains(body, want) {
				t.Errorf("%s: %d, no %s in %s", tt.target, response.StatusCode, want, body)
			}
		}
		if policy := response.Header.Get("Content-Security-Policy"); strings.Contains(policy, "script") {
			t.Errorf("%s: %s", tt.target, policy)
		}
	}
}

// liveStatus is a state that the test changes, at times of its own.
type liveStatus struct {
	state   atomic.Pointer[string]
	ticks   chan time.Time
	stopped atomic.Int32
}

// startLive starts a server of the admin interface with that state.
func startLive(t *testing.T) (live *liveStatus, h *admin.Handler, url string) {
	t.Helper()
	live = &liveStatus{ticks: make(chan time.Time)}
	first := "first"
	live.state.Store(&first)
	h, _ = newAdminHandler(&fakeCaches{}, func(c *admin.Config) {
		c.Status = fixedStatus()
		c.Status.State = func() pages.State {
			return pages.State{Tables: []pages.Table{{ID: "state", Rows: []pages.Row{{Cells: []string{*live.state.Load()}}}}}}
		}
		c.Status.Ticks = func(interval time.Duration) (<-chan time.Time, func()) {
			if interval != time.Second {
				t.Errorf("an event each %v", interval)
			}
			return live.ticks, func() { live.stopped.Add(1) }
		}
	}).(*admin.Handler)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Cleanup(h.Leave) // first
	return live, h, server.URL
}

// subscribe follows the events until the test ends.
func subscribe(t *testing.T, url string) (*http.Response, *bufio.Reader) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response, bufio.NewReader(response.Body)
}

// block returns the next lines up to an empty one.
func block(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	var all strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("%q, %v", line, err)
		}
		if line == "\n" {
			return all.String()
		}
		all.WriteString(line)
	}
}

func TestEventsOfTheStatus(t *testing.T) {
	live, h, url := startLive(t)
	response, events := subscribe(t, url)
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "Content-Encoding": "", "X-Content-Type-Options": "nosniff",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	const first = `id: 1` + "\n" + `data: {"severity":"","verdict":"","reasons":[],"figures":[],"tables":[{"id":"state","rows":[{"severity":"","cells":["first"]}]}]}` + "\n"
	for _, want := range []string{"retry: 3000\n", first} {
		if got := block(t, events); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	second := "a\nb"
	live.state.Store(&second)
	live.ticks <- time.Time{}
	got := block(t, events)
	data, ok := strings.CutPrefix(got, "id: 2\ndata: ")
	if !ok || strings.Count(data, "\n") != 1 || !json.Valid([]byte(data)) || !strings.Contains(data, `a\nb`) {
		t.Fatalf("%q", got)
	}
	live.ticks <- time.Time{} // nothing changes
	if got := block(t, events); got != ": nothing has changed\n" {
		t.Fatalf("%q", got)
	}
	h.Leave()
	if line, err := events.ReadString('\n'); err == nil {
		t.Errorf("%q after the end", line)
	}
	if !response.Close {
		t.Error("the connection is kept")
	}
	if n := live.stopped.Load(); n != 1 {
		t.Errorf("%d tickers were stopped", n)
	}
	_, events = subscribe(t, url) // who came by the handler just before its end
	for _, want := range []string{"retry: 3000\n", "id: 1\n"} {
		if got := block(t, events); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if line, err := events.ReadString('\n'); err == nil {
		t.Errorf("%q after the end", line)
	}
}

func TestSubscribersAreBounded(t *testing.T) {
	_, h, url := startLive(t)
	const bound = 8
	var followed []*bufio.Reader
	for range bound {
		response, events := subscribe(t, url)
		if response.StatusCode != http.StatusOK {
			t.Fatal(response.StatusCode)
		}
		followed = append(followed, events)
	}
	if response, _ := subscribe(t, url); response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", response.StatusCode)
	}
	h.Leave()
	for _, events := range followed {
		block(t, events)
		block(t, events)
		if line, err := events.ReadString('\n'); err == nil {
			t.Errorf("%q after the end", line)
		}
	}
	if response, _ := subscribe(t, url); response.StatusCode != http.StatusOK {
		t.Errorf("after all have ended: %d", response.StatusCode)
	}
}
