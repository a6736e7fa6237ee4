//go:build e2e

package gateways

import (
	"os"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/test/urndtest"
)

// TestGatewaysWithoutServers tests responses that need no server: the explanation of a port of another protocol
// (RFC 1738 section 6), templates, and local files, which are only served below their roots.
func TestGatewaysWithoutServers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/a.txt", []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := urndtest.Start(t, "127.0.0.1:9", func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.File.Roots = []string{dir}
		c.Gateways.Templates = []config.Gateway{{Scheme: "WAIS", Template: "https://gateway.example/?url={uri}"}}
	})
	for _, c := range []struct {
		request  string
		status   int
		location string
	}{
		{"GET telnet://h.example:25/", 200, ""},
		{"GET gopher://h.example:25/", 403, ""},
		{"GET prospero://h.example:6379/x", 200, ""},
		{"GET mailto:a@h.example", 200, ""},
		{"POST telnet://h.example/", 501, ""},
		{"GET telnet://h.example/path", 400, ""},
		{"GET wais://h.example:25/db", 302, "https://gateway.example/?url=wais%3A%2F%2Fh.example%3A25%2Fdb"},
		{"GET file://" + dir + "/a.txt", 200, ""},
		{"GET file://" + dir, 301, "file://" + dir + "/"},
		{"GET file://" + dir + "/..%2Fa", 400, ""},
		{"GET file:///etc/passwd", 403, ""},
		{"GET file://h.example" + dir + "/a.txt", 403, ""},
	} {
		if got := w.Exchange(t, c.request); got.Status != c.status || got.Location != c.location {
			t.Errorf("%s: %d %v, want %d", c.request, got.Status, got.Header, c.status)
		}
	}
	off := urndtest.Start(t, "127.0.0.1:9", urndtest.OpenLoopback)
	if got := off.Exchange(t, "GET file://"+dir+"/a.txt"); got.Status != 403 {
		t.Errorf("without roots: %d", got.Status)
	}
}
