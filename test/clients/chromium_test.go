//go:build e2e

package clients

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// testChromium shows pages with scripts in Chromium, with the proxy configured explicitly, and by the PAC file.
func testChromium(t *testing.T, c *clients) {
	c.add(t, "chromium/page.html",
		[]byte(`<!DOCTYPE html><title>t</title><p id="a"></p><script src="script.js"></script>`))
	c.add(t, "chromium/script.js",
		[]byte(`document.getElementById("a").textContent = "a page of " + location.protocol`))
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `<!DOCTYPE html><p id="a">a secret</p>`)
	}))
	defer secure.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(secure.URL, "https://"), ":")
	p := c.start(t, nil)
	p.Reload(t, func(settings *config.Config) { // the address is only known after the start
		settings.Proxy.PACProxies = []string{strings.TrimPrefix(p.URL, "http://")}
	})
	page := c.url("chromium/page.html")
	for _, browser := range []struct {
		flag  string
		pages [][2]string // URLs and their content
	}{
		{"--proxy-pac-url=" + p.URL + "/proxy.pac", [][2]string{{page, "a page of http:"}}},
		{
			"--proxy-server=" + p.URL,
			[][2]string{{page, "a page of http:"}, {"https://secure.clients.example.org:" + port, "a secret"}},
		},
	} {
		chromium := testserver.StartChromium(t, browser.flag, "--ignore-certificate-errors")
		for _, tt := range browser.pages {
			before := tunnels(t, p)
			chromium.Show(t, tt[0], testserver.Screen{Width: 800, Height: 600})
			var got string
			chromium.Evaluate(t, "document.documentElement.outerHTML", &got)
			if !strings.Contains(got, fmt.Sprintf(`<p id="a">%s</p>`, tt[1])) {
				t.Errorf("%s %s: %s", browser.flag, tt[0], got)
			}
			if strings.HasPrefix(tt[0], "https:") && tunnels(t, p) == before {
				t.Errorf("%s: no tunnel", tt[0])
			}
		}
	}
	for _, path := range []string{"/chromium/page.html", "/chromium/script.js"} {
		if n := c.requested(t, "GET "+path); n != 1 {
			t.Errorf("the site was asked for %s %d times", path, n)
		}
	}
}

// tunnels returns the number of tunnel requests that urnd has processed.
func tunnels(t *testing.T, p *urndtest.Daemon) (all int) {
	t.Helper()
	for _, found := range regexp.MustCompile(`(?m)^urnd_requests_total\{.*form="connect".*\} (\d+)$`).FindAllStringSubmatch(p.Scrape(t), -1) {
		n, err := strconv.Atoi(found[1])
		if err != nil {
			t.Fatal(err)
		}
		all += n
	}
	return all
}
