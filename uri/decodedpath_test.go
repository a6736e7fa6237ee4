package uri_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

func TestDecodedPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"":                     "",
		"/":                    "/",
		"/a/b":                 "/a/b",
		"/a/b/":                "/a/b/",
		"/a%2Fb":               "/a/b",
		"/%61dmin":             "/admin",
		"//admin":              "/admin",
		"/x/..//admin":         "/admin",
		"/x/%2e%2e/admin":      "/admin",
		"/x/%2e%2e%2Fadmin/":   "/admin/",
		"/admin/.":             "/admin/",
		"/admin/x/..":          "/admin/",
		"/../..":               "/",
		"/100%":                "/100%",
		"/%252e%252e/admin":    "/%2e%2e/admin", // decoded once only
		"/.well-known/a":       "/.well-known/a",
		"/caf%C3%A9":           "/caf\u00e9",
		"/a%00b":               "/a\x00b",
		"/a///////////////b//": "/a/b/",
	} {
		if got := uri.DecodedPath(path); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
		once := uri.DecodedPath(want)
		if want != "/100%" && want != "/%2e%2e/admin" && once != want {
			t.Errorf("%q is decoded to %q, and that to %q", path, want, once)
		}
	}
}

func TestPathReadings(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/a/b":              "/a/b",
		"/%61":              "/a",
		"/x/%2e%2e/a":       "/a",
		"/x//../a":          "/a /x/a",
		"/x/..%2fa":         "/a /x/..%2fa",
		"/x//..%2fa":        "/a /x/a /x/..%2fa",
		"/x/..;/a":          "/x/..;/a /a",
		"/a;v=1/b":          "/a;v=1/b /a/b",
		`/x/..\a`:           `/x/..\a /a`,
		"/x/..%5ca":         `/x/..\a /x/..%5ca /a`,
		"/a/b%2Fc":          "/a/b/c /a/b%2Fc",
		"/x/.%00./a":        "/x/.\x00./a",
		"/x/%252e%252e/a":   "/x/%2e%2e/a",
		"/.well-known/acme": "/.well-known/acme",
	} {
		if got := strings.Join(uri.PathReadings(path), " "); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
