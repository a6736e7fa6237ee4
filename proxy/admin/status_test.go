package admin_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/admin/status"
	"github.com/urnd/urnd/proxy/pages"
)

// fixedState returns a constant state.
func fixedState(pages.Writer) status.State {
	return status.State{
		Version: "1.2.3", Uptime: "5 min", Severity: status.OK, Verdict: "all is <well>",
		Tables: []status.Table{
			{
				ID: "part", Heading: "Parts", Columns: []string{"part", "state"},
				Rows: []status.Row{{
					Severity: status.Critical,
					Cells:    []pages.Content{"urnd", pages.Escaped("<ready>")},
				}}, More: 3,
			},
			{ID: "empty", Heading: "Others", Columns: []string{"other"}, None: "There is none."},
		},
	}
}

func TestStatusPage(t *testing.T) {
	h := newAdminHandler(&fakeCaches{}, nil)
	response := adminRequest(h, "127.0.0.1:1", "GET /status")
	page := text(t, response)
	for _, want := range []string{
		`<table class="figures" aria-labelledby="part">`,
		`<tr class="critical"><th scope="row">urnd</th><td data-of="state">&lt;ready&gt;</td>`,
		`<a href="/status">Reload</a>`, `<p>And 3 more.</p>`, `<p>There is none.</p>`,
		`<noscript><meta http-equiv="refresh" content="20"></noscript>`, `<script src="/status.js" defer></script>`,
		`<a href="/config">Configuration</a>`, `<h1>Status of urnd</h1>`, `class="verdict ok"`, `all is &lt;well&gt;`,
		`urnd 1.2.3, running for 5 min.`, `<div id="state">`, `id="live"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing in %s", want, page)
		}
	}
	policy := response.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'sha256-") ||
		strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	if got := response.Header.Get("Cache-Control"); response.StatusCode != 200 || got != "no-store" {
		t.Errorf("%d, Cache-Control: %s", response.StatusCode, got)
	}
	_, style, _ := strings.Cut(page, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	if hash := base64.StdEncoding.EncodeToString(sum[:]); !strings.Contains(policy, "'sha256-"+hash+"'") ||
		!strings.Contains(style, ".figures") {
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
		script.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(body, `fetch(location.href`) {
		t.Errorf("%v %s", script.Header, body)
	}
	for _, path := range []string{"/status", "/status.js", "/config"} {
		if response := adminRequest(h, "127.0.0.1:1",
			"POST "+path); response.StatusCode != http.StatusMethodNotAllowed &&
			response.StatusCode != http.StatusForbidden {
			t.Errorf("POST %s: %d", path, response.StatusCode)
		}
		if response := adminRequest(h, "192.0.2.1:1", "GET "+path); response.StatusCode != http.StatusForbidden {
			t.Errorf("%s by a stranger: %d", path, response.StatusCode)
		}
		if response := adminRequest(h, "127.0.0.1:1", "GET "+path,
			"Sec-Fetch-Site: cross-site"); response.StatusCode != http.StatusForbidden {
			t.Errorf("%s by a page of another site: %d", path, response.StatusCode)
		}
	}
}

// The configuration is shown with the origins of its values, as a page and as JSON.
func TestConfigurationPages(t *testing.T) {
	h := newAdminHandler(&fakeCaches{}, nil)
	for _, tt := range []struct {
		target string
		status int
		want   []string
	}{
		{"/config", 200, []string{
			"All settings have their defaults",
			`<a href="/config?section=dns"><code>dns</code></a>`,
		}},
		{"/config?q=2s", 200, []string{"1 found", `<code>&lt;2s&gt;</code>`}},
		{"/config?section=dns", 200, []string{`Section <code dir="auto">dns</code>`, `<code>dns.timeout</code>`}},
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
