package file_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/file"
	"github.com/urnd/urnd/uri"
)

// tree creates a directory with a root "pub", files in it and one outside, and returns the directory.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"pub/doc/deep", "pub/.hidden", "pub/empty", "other/.config", "pubother"} {
		must(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	for name, text := range map[string]string{
		"secret": "secret", "pubother/a": "secret", "pub/.env": "secret", "pub/.hidden/a": "secret",
		"pub/a.txt": "0123456789", "pub/b c%#?;é.html": "<html>", "pub/none": "", "pub/doc/x": "\x89PNG\r\n\x1a\n",
		"pub/doc/deep/y.pdf": "%PDF-1.4", "other/o": "other", "pub/back\\slash": "b",
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for name, target := range map[string]string{
		"pub/inside": "doc/x", "pub/indir": "doc", "pub/doc/up": "../a.txt", "pub/outside": "../secret",
		"pub/absolute": filepath.Join(dir, "secret"), "pub/tohidden": ".env", "pub/totohidden": "tohidden",
		"pub/doc/hiddendir":   "../.hidden",
		"pub/throughhidden":   ".hidden/../a.txt",
		"pub/doc/hiddenthere": "../indir/../.env",
		"pub/absoluteinside":  filepath.Join(dir, "pub/a.txt"), "pub/outdir": "../pubother", "pub/broken": "nowhere",
		"pub/loop": "loop", "pub/pipelink": "pipe",
	} {
		must(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	must(t, syscall.Mkfifo(filepath.Join(dir, "pub/pipe"), 0o644))
	listener, err := net.Listen("unix", filepath.Join(dir, "pub/socket"))
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// later is a clock by which all files were changed long ago.
func later() time.Time { return time.Now().Add(time.Hour) }

func handler(roots ...string) *file.Handler {
	return file.New(file.Config{
		Roots: roots, Now: later,
		Limits: scheme.Limits{Timeout: time.Minute, Entries: 1000, Bytes: 1 << 20},
	})
}

// get fetches a URL; header lists names and values.
func get(t *testing.T, h scheme.Handler, url string, header ...string) (*scheme.Resource, error) {
	t.Helper()
	return fetch(t, h, http.MethodGet, url, header...)
}

func fetch(t *testing.T, h scheme.Handler, method, url string, header ...string) (*scheme.Resource, error) {
	t.Helper()
	u, err := uri.Parse(url)
	must(t, err)
	r := scheme.Request{Request: httpmessage.Request{Method: method, URI: u, Fields: httpmessage.Fields{}}}
	for i := 0; i < len(header); i += 2 {
		r.Fields.Set(header[i], header[i+1])
	}
	resource, err := h.Fetch(t.Context(), r)
	if err == nil {
		t.Cleanup(func() { resource.Body.Close() })
	}
	return resource, err
}

// statusOf returns the status of a refusal, or 403 for resolver.ErrForbidden.
func statusOf(err error) int {
	var refusal *scheme.StatusError
	var parse *uri.ParseError
	switch {
	case errors.As(err, &parse):
		return http.StatusBadRequest
	case errors.As(err, &refusal):
		return refusal.Status
	case errors.Is(err, resolver.ErrForbidden), errors.Is(err, scheme.ErrDisabled):
		return http.StatusForbidden
	default:
		return 0
	}
}

func TestRefused(t *testing.T) {
	dir := tree(t)
	h := handler(dir + "/pub")
	for _, c := range []struct {
		why, url string
		status   int
	}{
		{"RFC 8089 section 2: another host", "file://example.org" + dir + "/pub/a.txt", 403},
		{"the host is not resolved", "file://127.0.0.1" + dir + "/pub/a.txt", 403},
		{"below no root", "file://" + dir + "/secret", 403},
		{"a root is not a prefix of names", "file://" + dir + "/pubother/a", 403},
		{"the root's name and more", "file://" + dir + "/pub.txt", 403},
		{"dot segments", "file://" + dir + "/pub/../secret", 403},
		{"encoded dot segments", "file://" + dir + "/pub/%2e%2E/secret", 403},
		{"dot segments to the top", "file:///../../../etc/passwd", 403},
		{"an encoded slash", "file://" + dir + "/pub/..%2Fsecret", 400},
		{"an encoded slash inside", "file://" + dir + "/pub/doc%2fx", 400},
		{"NUL", "file://" + dir + "/pub/a.txt%00.html", 400},
		{"a query", "file://" + dir + "/pub/a.txt?x", 400},
		{"an empty name", "file://" + dir + "/pub//a.txt", 400},
		{"empty names", "file:////", 400},
		{"nothing", "file://" + dir + "/pub/missing", 404},
		{"encoded backslashes are no separators", "file://" + dir + "/pub/..%5Csecret", 404},
		{"a file as directory", "file://" + dir + "/pub/a.txt/", 404},
		{"below a file", "file://" + dir + "/pub/a.txt/b", 404},
		{"a hidden file", "file://" + dir + "/pub/.env", 404},
		{"below a hidden directory", "file://" + dir + "/pub/.hidden/a", 404},
		{"a link to a hidden file", "file://" + dir + "/pub/tohidden", 404},
		{"a link to a link to a hidden file", "file://" + dir + "/pub/totohidden", 404},
		{"below a link to a hidden directory", "file://" + dir + "/pub/doc/hiddendir/a", 404},
		{"a link to a hidden directory", "file://" + dir + "/pub/doc/hiddendir/", 404},
		{"a link through a hidden directory", "file://" + dir + "/pub/throughhidden", 404},
		{"a link through a link to a hidden file", "file://" + dir + "/pub/doc/hiddenthere", 404},
		{"a link out", "file://" + dir + "/pub/outside", 403},
		{"an absolute link", "file://" + dir + "/pub/absolute", 403},
		{"an absolute link that would lead inside", "file://" + dir + "/pub/absoluteinside", 403},
		{"through a link out", "file://" + dir + "/pub/outdir/a", 403},
		{"a broken link", "file://" + dir + "/pub/broken", 404},
		{"a circle", "file://" + dir + "/pub/loop", 404},
		{"a pipe", "file://" + dir + "/pub/pipe", 403},
		{"a link to a pipe", "file://" + dir + "/pub/pipelink", 403},
		{"a socket", "file://" + dir + "/pub/socket", 403},
		{"a long name", "file://" + dir + "/pub/" + strings.Repeat("x", 300), 404},
		{"a drive letter is a name", "file:///C:/Windows/win.ini", 403},
	} {
		t.Run(c.why, func(t *testing.T) {
			resource, err := get(t, h, c.url)
			if err == nil || statusOf(err) != c.status {
				t.Fatalf("%s: %+v, %v; want %d", c.url, resource, err, c.status)
			}
			if c.status != 400 && strings.Contains(err.Error(), dir) {
				t.Errorf("the error has a path: %v", err)
			}
		})
	}
	if _, err := get(t, handler(), "file://"+dir+"/pub/a.txt"); !errors.Is(err, scheme.ErrDisabled) {
		t.Errorf("without roots: %v", err)
	}
	if _, err := get(t, handler(dir+"/gone"), "file://"+dir+"/gone/a"); statusOf(err) != 404 {
		t.Errorf("a root that is not there: %v", err)
	}
	if _, err := get(t, handler("/dev"), "file:///dev/null"); statusOf(err) != 403 {
		t.Errorf("a device: %v", err)
	}
}

func TestOffsets(t *testing.T) {
	for url, offset := range map[string]int{
		"file:///a/b%2Fc": 10, "file:///a?b": 9, "file:///a//b": 10, "file:////": 8,
		"file:///%00": 8,
	} {
		_, err := get(t, handler("/srv"), url)
		var parse *uri.ParseError
		if !errors.As(err, &parse) || parse.Offset != offset {
			t.Errorf("%s: %v, want %d", url, err, offset)
		}
	}
}

func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("root may read all: only that it is served is tested")
	}
	dir := tree(t)
	must(t, os.Chmod(dir+"/pub/a.txt", 0))
	_, err := get(t, handler(dir+"/pub"), "file://"+dir+"/pub/a.txt")
	if os.Getuid() == 0 && err != nil || os.Getuid() != 0 && statusOf(err) != 403 {
		t.Errorf("%v", err)
	}
}

func TestFiles(t *testing.T) {
	dir := tree(t)
	must(t, os.Symlink(dir+"/pub", dir+"/linked"))
	h := handler(dir+"/pub", dir+"/linked", dir+"/other/.config", dir+"/other")
	must(t, os.WriteFile(dir+"/other/.config/a", []byte("a"), 0o644))
	for _, c := range []struct{ url, contentType, body string }{
		{"file://" + dir + "/pub/a.txt", "text/plain; charset=utf-8", "0123456789"},
		{"FILE://LocalHost" + dir + "/pub/a.txt", "text/plain; charset=utf-8", "0123456789"},
		{"file:" + dir + "/pub/./doc/../a.txt", "text/plain; charset=utf-8", "0123456789"},
		{"file://" + dir + "/pub/b%20c%25%23%3F%3B%C3%A9.html", "text/html; charset=utf-8", "<html>"},
		{"file://" + dir + "/pub/none", "application/octet-stream", ""},
		{"file://" + dir + "/pub/inside", "image/png", "\x89PNG\r\n\x1a\n"},
		{"file://" + dir + "/pub/indir/deep/y.pdf", "application/pdf", "%PDF-1.4"},
		{"file://" + dir + "/pub/doc/up", "text/plain; charset=utf-8", "0123456789"},
		{"file://" + dir + "/pub/back%5Cslash", "text/plain; charset=utf-8", "b"},
		// The root itself may be a symbolic link.
		{"file://" + dir + "/linked/a.txt", "text/plain; charset=utf-8", "0123456789"},
		{"file://" + dir + "/other/.config/a", "text/plain; charset=utf-8", "a"}, // .config is a root
	} {
		t.Run(c.url, func(t *testing.T) {
			resource, err := get(t, h, c.url)
			must(t, err)
			body, err := io.ReadAll(resource.Body)
			must(t, err)
			header := resource.Fields
			if resource.Status != 200 || string(body) != c.body || header.Get("Content-Type") != c.contentType ||
				resource.ContentLength != int64(len(c.body)) {
				t.Errorf("%d %v %q", resource.Status, header, body)
			}
			if header.Get("Accept-Ranges") != "bytes" || header.Get("Cache-Control") != "private, no-cache" ||
				header.Get("Last-Modified") == "" || !strings.HasPrefix(header.Get("Etag"), `"`) {
				t.Errorf("%v", header)
			}
			if head, err := fetch(t, h, http.MethodHead, c.url); err != nil || head.Body != http.NoBody ||
				head.ContentLength != int64(len(c.body)) {
				t.Errorf("HEAD: %+v, %v", head, err)
			}
		})
	}
}
