//go:build e2e

package proxy

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/test/urndtest"
)

const adminToken = "topsecret-0123456789"

// TestAdminShowsConfiguration checks that the configuration is shown in the format of the file, with secrets
// replaced by the paths of their files.
func TestAdminShowsConfiguration(t *testing.T) {
	t.Parallel()
	token := writeTemp(t, "token", adminToken+"\n")
	users := writeTemp(t, "users", "user:$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC\n")
	w := urndtest.Start(t, noDNS, func(c *config.Config) {
		c.Access.AdminToken, c.Access.ProxyUsers = token, users
		c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{"http://192.0.2.1"}}}
	})
	const bearer = "Authorization: Bearer " + adminToken
	if status, body := w.AdminRequest(t, "GET /api/v1/config"); status != 401 || strings.Contains(body, "dns") {
		t.Errorf("without the token: %d %s", status, body)
	}
	status, body := w.AdminRequest(t, "GET /api/v1/config", bearer)
	var document struct {
		DNS struct {
			Servers []string
			Timeout string
		}
		Access struct {
			AdminToken string   `json:"admin_token"`
			ProxyUsers string   `json:"proxy_users"`
			Admins     []string `json:"admin_clients"`
		}
		Cache      struct{ Answers string }
		Namespaces []struct {
			NID   string
			THTTP []string
		}
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil || status != 200 {
		t.Fatalf("%d %v %s", status, err, body)
	}
	if d := document; d.DNS.Timeout != "1s" || d.Access.AdminToken != token || d.Access.ProxyUsers != users ||
		d.Cache.Answers != "1MiB" || d.DNS.Servers[0] != "127.0.0.1:9" ||
		len(d.Access.Admins) != 2 || d.Namespaces[0].THTTP[0] != "http://192.0.2.1" {
		t.Errorf("%+v", d)
	}
	for _, secret := range []string{adminToken, "$2y$", "c4WoMPo3"} {
		for _, target := range []string{
			"/api/v1/config", "/metrics", "/debug/pprof/cmdline", "/openapi.json",
			"/readyz",
		} {
			if _, body := w.AdminRequest(t, "GET "+target, bearer); strings.Contains(body, secret) {
				t.Errorf("%s shows %s", target, secret)
			}
		}
		if strings.Contains(w.Log(), secret) {
			t.Errorf("the log shows %s", secret)
		}
	}
}

// TestAdminToken checks that a token is read from its file with the configuration, without surrounding white
// space.
func TestAdminToken(t *testing.T) {
	t.Parallel()
	path := writeTemp(t, "token", " "+adminToken+" \n")
	w := urndtest.Start(t, noDNS, func(c *config.Config) {
		c.Access.AdminToken = path
		c.Access.AdminClients = append(c.Access.AdminClients, netip.MustParsePrefix("192.0.2.0/24"))
	})
	get := func(token string) int {
		t.Helper()
		status, _ := w.AdminRequest(t, "GET /api/v1/cache", "Authorization: Bearer "+token)
		return status
	}
	if a, b := get(adminToken), get("another"); a != 200 || b != 401 {
		t.Errorf("%d with it, %d without", a, b)
	}
	for text, good := range map[string]bool{
		"": false, "short": false, strings.Repeat(" ", 40): false,
		"another-0123456789": true,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if reload(t, w, keep) != good {
			t.Errorf("%q: refused %t", text, good)
		}
		if good {
			break
		}
		if got := get(adminToken); got != 200 {
			t.Errorf("%q in the file is refused, and the token that was: %d", text, got)
		}
	}
}

// TestAdminSocket checks that a Unix socket requires no token, because file permissions control access.
func TestAdminSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "admin.sock")
	urndtest.Start(t, noDNS, func(c *config.Config) {
		c.Listen.Admin, c.Access.AdminToken = "unix:"+path, writeTemp(t, "token", adminToken)
	})
	if info, err := os.Stat(path); err != nil || info.Mode() != os.ModeSocket|0o660 {
		t.Errorf("%v, %v", info, err)
	}
	client := http.Client{Transport: &http.Transport{
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", path) },
		DisableKeepAlives: true,
	}}
	response, err := client.Get("http://admin.example/api/v1/cache")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		t.Errorf("%d", response.StatusCode)
	}
}

// TestAdminMetrics checks the metrics of a running urnd with the linter of Prometheus.
func TestAdminMetrics(t *testing.T) {
	t.Parallel()
	web := serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.RawQuery, ":none") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		redirect(w, "https://a.example/")
	})
	w := urndtest.Start(t,
		urndtest.UDPAndTCP(urndtest.Zone(t, urndtest.ExampleRule,
			`name.urn.example.org. 60 IN NAPTR 50 10 "x" "none" "" .`)).Serve(t), func(c *config.Config) {
			urndtest.OpenLoopback(c)
			c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{"http://" + web.addr}}}
		})
	for range 2 {
		for _, path := range []string{
			"/urn:name:1", "/uri-res/N2Ls?urn:book:1", "/urn:book:none",
			"/api/v1/resolve?uri=urn:name:1", "/urn:a", "/",
		} {
			w.Get(t, path)
		}
	}
	w.AdminRequest(t, "DELETE /api/v1/cache/entries?uri=urn:book:1&mode=hard")
	status, text := w.AdminRequest(t, "GET /metrics")
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil || status != 200 {
		t.Fatalf("%d %v", status, err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	w.ExpectMetrics(t,
		`requests_total{code="302",form="path",service="I2L"} 2`,
		`requests_total{code="200",form="thttp",service="I2Ls"} 2`,
		`requests_total{code="404",form="path",service="I2L"} 2`,
		`requests_total{code="200",form="api",service="I2L"} 2`,
		`requests_total{code="400",form="path",service="I2L"} 2`,
		`requests_total{code="200",form="home",service="I2L"} 2`,
		`request_duration_seconds_count{form="path"} 6`,
		`cache_lookups_total{cache="answers",outcome="hit"} 4`,
		`cache_lookups_total{cache="answers",outcome="negative"} 1`,
		`cache_lookups_total{cache="answers",outcome="miss"} 3`,
		`cache_lookups_total{cache="answers",outcome="failure"} 0`, `cache_entries{cache="answers"} 2`,
		`cache_evictions_total{cache="answers"} 0`, `cache_lookups_total{cache="records",outcome="miss"} 1`,
		`cache_entries{cache="records"} 1`, `ddds_steps_total 1`,
		`gateway_exchanges_total{gateway="thttp",outcome="found"} 1`,
		`gateway_exchanges_total{gateway="thttp",outcome="not_found"} 1`, `connections_refused_total 0`,
		`limit_max{limit="connections"} 8192`, "config_last_reload_successful 1",
	)
	if since := time.Since(time.Unix(int64(scraped(t, w, "urnd_config_last_reload_success_timestamp_seconds")),
		0)); since < 0 || since > time.Hour {
		t.Errorf("the configuration was read %v ago", since)
	}
	version, err := urndtest.Run(t, "", "version")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`urnd_build_info{goversion="go1.`, `,version="` + strings.Fields(version)[1] + `"} 1`,
		`urnd_ddds_records_discarded_total{reason="`, "urnd_cache_bytes{cache=\"answers\"} ",
		"process_start_time_seconds", "go_goroutines",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s", part)
		}
	}
	_, body := w.AdminRequest(t, "GET /api/v1/cache")
	var caches struct {
		Caches map[string]struct {
			Lookups        map[string]int
			Entries, Bytes int
		}
	}
	if err := json.Unmarshal([]byte(body),
		&caches); err != nil || caches.Caches["answers"].Lookups["hit"] != 4 || caches.Caches["answers"].Entries != 2 ||
		caches.Caches["records"].Bytes == 0 {
		t.Errorf("%v %s", err, body)
	}
}
