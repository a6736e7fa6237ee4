//go:build e2e

package clients

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// testWget mirrors a site twice: the second time wget checks whether the files have changed.
func testWget(t *testing.T, c *clients) {
	files := map[string][]byte{
		"index.html":   []byte(`<a href="a.html">a</a> <a href="below/b.html?c=d&amp;e=%7e">b</a> <img src="image.bin">`),
		"a.html":       []byte(`<a href="./">up</a> <a href="%62elow/b.html?c=d&amp;e=%7e">b</a>`),
		"below/b.html": []byte(`<a href="../a.html">a</a>`),
		"image.bin":    urndtest.RandomBytes(100_000),
	}
	for name, content := range files {
		c.add(t, "wget/"+name, content)
	}
	first, second := t.TempDir(), t.TempDir()
	for _, folder := range []string{first, first, second} {
		log := filepath.Join(t.TempDir(), "log")
		urndtest.RunProgram(t, folder, nil, "wget", "--no-config", "-e", "use_proxy=yes", "-e", "http_proxy="+c.URL,
			"-e", "robots=off", "-o", log,
			"--no-verbose", "--mirror", "--no-parent", "--no-host-directories", "--server-response", c.url("wget/"))
		if text := urndtest.ReadFile(t, log); strings.Contains(text, "ERROR") {
			t.Errorf("%s", text)
		}
		for name, content := range files {
			if name == "below/b.html" {
				name += "?c=d&e=~"
			}
			urndtest.WantFile(t, filepath.Join(folder, "wget", name), content)
		}
	}
	if n := c.requested(t, "GET /wget/"); n != len(files) {
		t.Errorf("the site was asked %d times, for %d files:\n%s", n, len(files), strings.Join(c.site.Log(t), "\n"))
	}
}
