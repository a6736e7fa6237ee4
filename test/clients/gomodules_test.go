//go:build e2e

package clients

import (
	"archive/zip"
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// zipped returns a zip archive of files.
func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// testGoModules downloads a module from a module proxy on two machines:
// https://go.dev/ref/mod#goproxy-protocol.
func testGoModules(t *testing.T, c *clients) {
	const mod, code = "module tiny.example.org/m\n", "package m\n\nconst A = 1\n"
	at := "tiny.example.org/m@v1.0.0/"
	for name, content := range map[string][]byte{
		"list": []byte("v1.0.0\n"), "v1.0.0.info": []byte(`{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}`),
		"v1.0.0.mod": []byte(mod),
		"v1.0.0.zip": zipped(t, map[string]string{at + "go.mod": mod, at + "m.go": code}),
	} {
		c.add(t, "goproxy/tiny.example.org/m/@v/"+name, content)
	}
	for range 2 {
		folder, cache := t.TempDir(), t.TempDir()
		urndtest.WriteOld(t, filepath.Join(folder, "go.mod"),
			[]byte("module user\n\ngo 1.21\n\nrequire tiny.example.org/m v1.0.0\n"))
		urndtest.RunProgram(t, folder, []string{
			"GOPROXY=" + c.url("goproxy"), "HTTP_PROXY=" + c.URL, "http_proxy=", "NO_PROXY=", "no_proxy=",
			"GOSUMDB=off", "GOFLAGS=-modcacherw", "GOMODCACHE=" + cache, "GOTOOLCHAIN=local", "GOWORK=off",
			"GONOPROXY=", "GOPRIVATE=",
		}, "go", "mod", "download", "tiny.example.org/m@v1.0.0")
		urndtest.WantFile(t, filepath.Join(cache, at, "m.go"), []byte(code))
	}
	for _, name := range []string{"v1.0.0.info", "v1.0.0.mod", "v1.0.0.zip"} {
		if n := c.requested(t, "GET /goproxy/tiny.example.org/m/@v/"+name); n != 1 {
			t.Errorf("the site was asked for %s %d times", name, n)
		}
	}
}
