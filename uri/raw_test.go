package uri_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

// Bytes that clients send raw in path and query are encoded, and no others: RFC 3986 sections 2, 2.1, 3.3 and
// 3.4.
func TestParseRaw(t *testing.T) {
	for _, tt := range []struct{ text, encoded string }{
		{"http://a/?a[]=1", "http://a/?a%5B%5D=1"},
		{"http://a/?filter[name]=x&family=A|B", "http://a/?filter%5Bname%5D=x&family=A%7CB"},
		{"https://a/100%", "https://a/100%25"},
		{"http://a/%4", "http://a/%254"},
		{"http://a/%%41%zz%", "http://a/%25%41%25zz%25"},
		{"http://a/ü?ü", "http://a/%C3%BC?%C3%BC"},
		{"http://a/\xe9", "http://a/%E9"}, // ISO 8859-1: its meaning is unknown, and proxies pass it on
		{"HTTP://a/[]{}|^\\`\"<>", "HTTP://a/%5B%5D%7B%7D%7C%5E%5C%60%22%3C%3E"},
		{"http://a?[", "http://a?%5B"},
		{"http://a/..\\..\\b", "http://a/..%5C..%5Cb"}, // no path of three segments
		{"http://a/[#f", "http://a/%5B#f"},
		{"http://[::1]:80/[", "http://[::1]:80/%5B"},
		{"http://a/b%5bc?d", "http://a/b%5bc?d"},
	} {
		u, err := uri.ParseRaw(tt.text)
		if err != nil || u.String() != tt.encoded {
			t.Errorf("%q: %q, %v", tt.text, u, err)
		}
	}
	for _, text := range []string{
		"http://a/b c", "http://a/\r\n", "http://a/\x00", "http://a/\x7f", "http://a/?\t", "http://a/#[", "http://a/##",
		"http://a[b/", "http://a\\@b/", "http://a%/", "http://ü/", "http:\\\\a\\", "http:/[", "http:[",
		"urn:example:[", "ftp://a/[", "gopher://a/|", "urn:example:100%", "//a/[", "/[", "[",
	} {
		if u, err := uri.ParseRaw(text); err == nil && u.Check() == nil {
			t.Errorf("%q is accepted as %q", text, u)
		}
	}
}

// References in Location and Content-Location: RFC 9110 section 10.2.2.
func TestParseRawReference(t *testing.T) {
	base := mustParse(t, "http://a/b/c?d")
	for text, want := range map[string]string{
		"?x[]=1": "http://a/b/c?x%5B%5D=1", "/|": "http://a/%7C", "../ü": "http://a/%C3%BC", "//b/[": "http://b/%5B",
		"https://b/100%": "https://b/100%25", "[": "http://a/b/%5B", "ftp://a/b": "ftp://a/b",
	} {
		u, err := uri.ParseRawReference(text)
		if err == nil {
			u, err = base.Resolve(u, uri.RFC3986)
		}
		if err != nil || u.String() != want {
			t.Errorf("%q: %q, %v", text, u, err)
		}
	}
	for _, text := range []string{"a b", "//a[b/", "//a\\b/", "ftp://a/[", "urn:a:[", "a\r\n"} {
		if u, err := uri.ParseRawReference(text); err == nil {
			t.Errorf("%q is accepted as %q", text, u)
		}
	}
}

// Raw names are encoded for suggestions only, and names stay strict: RFC 8141 section 2.2.
func TestEncodeRawName(t *testing.T) {
	for text, want := range map[string]string{
		"urn:example:a[b]": "urn:example:a%5Bb%5D", "URN:example:100%": "URN:example:100%25",
		"urn:example:ü#[": "urn:example:%C3%BC#[",
		"urn:example:a b": "urn:example:a b", "http://a/[": "http://a/[", "urn": "urn",
	} {
		if got := uri.EncodeRawName(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestPathAndQuery(t *testing.T) {
	for text, want := range map[string]string{
		"http://a": "", "http://a/": "/", "http://a?b": "?b", "http://a/[?|#f": "/[?|", "http://a#f": "",
		"http://a//b?//c": "//b?//c", "urn:a:b": "",
	} {
		if got := uri.PathAndQuery(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// FuzzRaw: encoding is idempotent; other bytes are unchanged; normalizing is idempotent; and the authority of a
// target ends at the first "/", "?" or "#", as other software parses it.
func FuzzRaw(f *testing.F) {
	for _, s := range []string{
		"http://a/?a[]=1", "http://a/100%", "https://[::1]/%%41/../ü", "HTTP://a?|#f",
		"http://a\\@b/", "http://a/%2e%2E\\..", "x://a/[",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		encoded := uri.EncodeRaw(s)
		if again := uri.EncodeRaw(encoded); again != encoded {
			t.Fatalf("%q is encoded as %q, and that as %q", s, encoded, again)
		}
		if u, err := uri.Parse(s); err == nil && encoded != s {
			t.Fatalf("%q is a URI, and encoded as %q", u, encoded)
		}
		u, err := uri.ParseRaw(s)
		if err != nil {
			return
		}
		normal := u.Normalize()
		if again := normal.Normalize(); again != normal {
			t.Fatalf("%q normalizes to %q, then to %q", s, normal, again)
		}
		if again, err := uri.ParseRaw(normal.String()); err != nil || again != normal {
			t.Fatalf("%q normalizes to %q, which is read as %q, %v", s, normal, again, err)
		}
		if authority, ok := u.Authority(); ok && encoded != s {
			_, rest, _ := strings.Cut(s, "://")
			if i := strings.IndexAny(rest, "/?#"); i < 0 || rest[:i] != authority {
				t.Fatalf("%q has the authority %q", s, authority)
			}
		}
	})
}
