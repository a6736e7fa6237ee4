//go:build e2e

package browser

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/test/urndtest"
)

// The page for operators has what urnd has done, and its events end with the configuration, and with urnd: nothing waits for them.
func TestStatusPage(t *testing.T) {
	t.Parallel()
	w := urndtest.Start(t, "127.0.0.1:9", func(c *config.Config) { c.Limits.ShutdownTimeout = time.Hour })
	if got := w.Get(t, "/urn:x:"); got.Status != http.StatusBadRequest {
		t.Fatal(got.Status)
	}
	status, page := w.AdminRequest(t, "GET /status")
	for _, want := range []string{
		`<p id="said">urnd is ready, `, ">urnd " + urndtest.Version(t) + ". <a ", `<tbody id="failing" `, `<tbody id="faults" `, // the DNS server refuses: it may have been asked by now
		`<th scope="row">answers</th>`, `<th scope="row">requests</th>`,
		`<th scope="row">path</th><td data-of="all">1</td><td data-of="2xx">0</td><td data-of="3xx">0</td><td data-of="4xx">1</td><td data-of="5xx">0</td>`,
	} {
		if status != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("%d, %s is missing in %s", status, want, page)
		}
	}
	const bound = 30_000 // octets: docs/pages.md
	if len(page) > bound {
		t.Errorf("the page has %d octets", len(page))
	}
	first, second := events(t, w), events(t, w)
	w.Reload(t, func(*config.Config) {})
	for _, events := range []io.Reader{first, second} {
		if rest, err := io.ReadAll(events); err != nil {
			t.Errorf("%q, %v", rest, err)
		}
	}
	third := events(t, w)
	w.Stop()
	if rest, err := io.ReadAll(third); err != nil {
		t.Errorf("%q, %v", rest, err)
	}
}

// events returns the events of the page behind the first one, which it checks.
func events(t *testing.T, w *urndtest.Daemon) io.Reader {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.Admin+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	events := bufio.NewReader(response.Body)
	for _, want := range []string{"retry: 3000\n", "\n", "id: 1\n", `data: {"severity":"`} {
		if line, err := events.ReadString('\n'); err != nil || !strings.HasPrefix(line, want) {
			t.Fatalf("%q, %v, want %q", line, err, want)
		}
	}
	return events
}
