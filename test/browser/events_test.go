//go:build e2e

package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// TestStatusPage checks that the operators' page shows the activity of urnd.
func TestStatusPage(t *testing.T) {
	t.Parallel()
	w := urndtest.Start(t, "127.0.0.1:9", nil)
	if got := w.Get(t, "/urn:x:"); got.Status != http.StatusBadRequest {
		t.Fatal(got.Status)
	}
	status, page := w.AdminRequest(t, "GET /status")
	for _, want := range []string{
		// The DNS server refuses queries, and may have been queried by now.
		`<p>urnd is ready, `, ">urnd " + urndtest.Version(t) + ", running for 0 min. <a ", `<h2 id="failing">`,
		`<h2 id="errors">`, `<h2 id="machines">`, `<th scope="row"><code>answers</code></th>`,
		`<th scope="row"><code>requests</code></th>`,
		`<th scope="row"><code>path</code></th><td data-of="all">1</td><td data-of="2xx">0</td><td data-of="3xx">0</td><td data-of="4xx">1</td><td data-of="5xx">0</td>`,
	} {
		if status != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("%d, %s is missing in %s", status, want, page)
		}
	}
	const bound = 30_000 // in bytes: docs/pages.md
	if len(page) > bound {
		t.Errorf("the page has %d bytes", len(page))
	}
}
