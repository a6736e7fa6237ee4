//go:build e2e

package clients

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// clients is urnd as the forward proxy of real clients, and the site that they request.
type clients struct {
	*urndtest.Daemon
	folder string // of the site
	site   *testserver.WebServer
	dns    string
}

// start runs another urnd.
func (c *clients) start(t *testing.T, change func(*config.Config)) *urndtest.Daemon {
	t.Helper()
	return urndtest.Start(t, c.dns, func(settings *config.Config) {
		urndtest.OpenLoopback(settings)
		settings.Proxy.ConnectPorts = []config.PortRange{{First: 1, Last: 65535}}
		settings.DNS.Timeout = testserver.Timeout // for a busy machine
		if change != nil {
			change(settings)
		}
	})
}

// TestClients checks that real clients get correct responses through urnd, and repeated ones from its cache.
func TestClients(t *testing.T) {
	t.Parallel()
	c := &clients{
		folder: testserver.OpenFolder(t),
		dns: testserver.StartBIND(t,
			testserver.Zone{Name: "clients.example.org", Text: urndtest.LoopbackZone}).Addr(),
	}
	c.site = testserver.StartNginx(t, c.folder,
		"location /packed/ { gzip on; gzip_vary on; gzip_proxied any; gzip_types text/plain; expires 1h; }",
		"location /upload/ { dav_methods PUT; client_max_body_size 16m; expires 1h; }")
	c.Daemon = c.start(t, nil)
	for _, client := range []struct {
		name string
		test func(*testing.T, *clients)
	}{
		{"curl", testCurl},
		{"curl and users", testCurlUsers},
		{"curl and TLS", testCurlTLS},
		{"wget", testWget},
		{"apt", testAPT},
		{"go", testGoModules},
		{"pip", testPip},
		{"Chromium", testChromium},
	} {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			client.test(t, c)
		})
	}
}

// url returns the URL of a file of the site.
func (c *clients) url(path string) string {
	return fmt.Sprintf("http://www.clients.example.org:%d/%s", c.site.Port(), path)
}

// add adds a file to the site that was last modified days ago, so that it is heuristically fresh for a day (RFC
// 9111 section 4.2.2).
func (c *clients) add(t *testing.T, path string, content []byte) {
	t.Helper()
	urndtest.WriteOld(t, filepath.Join(c.folder, path), content)
}

// requested returns the number of requests to the site with a prefix such as "GET /a".
func (c *clients) requested(t *testing.T, prefix string) (n int) {
	t.Helper()
	for _, line := range c.site.Log(t) {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}
