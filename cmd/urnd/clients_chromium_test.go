package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// Chromium shows pages and runs their scripts, with the proxy named, and with that of the file by
// which browsers configure themselves.
func testChromium(t *testing.T, c *clients) {
	c.add(t, "chromium/page.html", []byte(`<!DOCTYPE html><title>t</title><p id="a"></p><script src="script.js"></script>`))
	c.add(t, "chromium/script.js", []byte(`document.getElementById("a").textContent = "a page of " + location.protocol`))
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `<!DOCTYPE html><p id="a">a secret</p>`)
	}))
	defer secure.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(secure.URL, "https://"), ":")
	tunnels := func() float64 { return c.scraped(t, `urnd_requests_total\{.*form="connect".*\}`) }
	c.publishPAC(t)
	for i, tt := range []struct{ url, want, flag string }{
		{c.url("chromium/page.html"), "a page of http:", "--proxy-server=" + c.service},
		{c.url("chromium/page.html"), "a page of http:", "--proxy-pac-url=" + c.service + "/proxy.pac"},
		{"https://secure.clients.example.org:" + port, "a secret", "--proxy-server=" + c.service},
	} {
		before := tunnels()
		got := testserver.ChromiumDOM(t, tt.url, tt.flag, "--ignore-certificate-errors")
		if !strings.Contains(got, fmt.Sprintf(`<p id="a">%s</p>`, tt.want)) {
			t.Errorf("%s %s: %s", tt.flag, tt.url, got)
		}
		if carried := tunnels() - before; i == 2 && carried == 0 {
			t.Errorf("%s: %.0f tunnels", tt.url, carried)
		}
	}
	for _, path := range []string{"/chromium/page.html", "/chromium/script.js"} {
		if n := c.asked(t, "GET "+path); n != 1 {
			t.Errorf("the site was asked for %s %d times", path, n)
		}
	}
}

// publishPAC lets urnd have a /proxy.pac with its own address, which it has only since it runs.
func (c *clients) publishPAC(t *testing.T) {
	t.Helper()
	text := strings.Replace(loopbackConfig, "proxy: {", "proxy: {pac_proxies: ['"+strings.TrimPrefix(c.service, "http://")+"'], ", 1)
	if err := os.WriteFile(c.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	testserver.Wait(t, "there is a /proxy.pac", func() bool {
		response, err := http.Get(c.service + "/proxy.pac")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}
