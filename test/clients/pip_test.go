//go:build e2e

package clients

import (
	"path/filepath"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// testPip downloads a wheel from a simple index (PEP 503) on two machines.
func testPip(t *testing.T, c *clients) {
	const wheel = "tiny-1.0-py3-none-any.whl"
	content := zipped(t, map[string]string{
		"tiny.py": "A = 1\n", "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
		"tiny-1.0.dist-info/WHEEL":  "Wheel-Version: 1.0\nGenerator: none\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"tiny-1.0.dist-info/RECORD": "tiny.py,,\ntiny-1.0.dist-info/METADATA,,\ntiny-1.0.dist-info/WHEEL,,\ntiny-1.0.dist-info/RECORD,,\n",
	})
	c.add(t, "simple/tiny/index.html",
		[]byte(`<!DOCTYPE html><html><body><a href="../../wheels/`+wheel+`">`+wheel+`</a></body></html>`))
	c.add(t, "wheels/"+wheel, content)
	for range 2 {
		folder := t.TempDir()
		urndtest.RunProgram(t, folder,
			[]string{"PIP_CONFIG_FILE=/dev/null", "NO_PROXY=", "no_proxy=", "PYENV_VERSION=system"}, "pip3", "download",
			"--disable-pip-version-check", "--no-cache-dir", "--no-deps",
			"--proxy", c.URL, "--index-url", c.url("simple/"), "--trusted-host", "www.clients.example.org", "--retries",
			"0", "tiny")
		urndtest.WantFile(t, filepath.Join(folder, wheel), content)
	}
	if n := c.requested(t, "GET /wheels/"+wheel); n != 1 {
		t.Errorf("the site was asked for the wheel %d times", n)
	}
}
