package file_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// FuzzURL requires that no URL reaches a file outside of the root or a hidden one, or causes an undocumented
// error. Redirects and listings must stay below the root, too.
func FuzzURL(f *testing.F) {
	dir := f.TempDir()
	for _, name := range []string{"pub/doc", "pub/.hidden"} {
		if err := os.MkdirAll(dir+"/"+name, 0o755); err != nil {
			f.Fatal(err)
		}
	}
	for _, name := range []string{"secret", "pub/.env", "pub/.hidden/a", "pub/doc/x"} {
		text := "secret"
		if name == "pub/doc/x" {
			text = "public"
		}
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	if err := os.Symlink("../../secret", dir+"/pub/doc/out"); err != nil {
		f.Fatal(err)
	}
	for _, path := range []string{
		"", "/", "/doc", "/doc/", "/doc/x", "/doc/out", "/../secret", "/%2e%2e/secret", "/..%2fsecret", "/.hidden/a",
		"/%2Eenv", "//doc", "/doc/x?a", "/doc/%00", "/doc\\..\\x", "/./doc/x", "/doc/../../secret", "/doc/x#a",
	} {
		f.Add(path)
	}
	h, root := handler(dir+"/pub"), "file://"+dir+"/pub/"
	f.Fuzz(func(t *testing.T, path string) {
		u, err := uri.Parse("file://" + dir + "/pub" + path)
		if err != nil || u.Check() != nil {
			return
		}
		resource, err := h.Fetch(t.Context(),
			scheme.Request{Request: httpmessage.Request{Method: http.MethodGet, URI: u.WithoutFragment()}})
		if err != nil {
			if statusOf(err) == 0 {
				t.Errorf("%s: %v", u, err)
			}
			return
		}
		defer resource.Body.Close()
		body, err := io.ReadAll(resource.Body)
		if err != nil || strings.Contains(string(body), "secret") {
			t.Errorf("%s: %q, %v", u, body, err)
		}
		if to := resource.Fields.Get("Location"); to != "" && !strings.HasPrefix(to, root) && to != "file://"+dir+"/" {
			t.Errorf("%s: redirected to %s", u, to)
		}
		if resource.Listing == nil {
			return
		}
		for _, item := range resource.Listing.Items {
			if item.URI != "" && !strings.HasPrefix(item.URI, root) {
				t.Errorf("%s: %+v", u, item)
			}
		}
	})
}
