package uri_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

// RFC 4343, RFC 3986 section 6.2.2: hosts are compared in canonical form.
func TestSameHost(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"purl.example", "PURL.Example", true},
		{"PURL.example", "PURL.example", true},
		{"purl.example.", "Purl.example", true},
		{"purl.example.", "PURL.EXAMPLE.", true},
		{"purl.example..", "purl.example", false},
		{"purl.example", "purl.examples", false},
		{"p%75rl.example", "PURL.example.", true},
		{"purl%2Eexample", "purl.example", true},
		{"b%C3%BCcher.example", "xn--bcher-kva.example", true},
		{"[::1]", "[0:0:0:0:0:0:0:1]", true},
		{"[::A]", "[::a]", true},
		{"[::1]", "[::2]", false},
		{"127.0.0.1", "127.0.0.1.", true},
		{"", "", true},
		{".", "", true},
		{"[", "[", true},
		{"[]", "[", false},
		{"\u212aelvin.example", "kelvin.example", false},
	} {
		if got := uri.SameHost(tt.a, tt.b); got != tt.same || uri.SameHost(tt.b, tt.a) != tt.same ||
			(uri.CanonicalHost(tt.a) == uri.CanonicalHost(tt.b)) != tt.same {
			t.Errorf("%q and %q: %v, as %q and %q", tt.a, tt.b, got, uri.CanonicalHost(tt.a), uri.CanonicalHost(tt.b))
		}
	}
	host := "purl.example"
	if n := testing.AllocsPerRun(100,
		func() { _, _ = uri.CanonicalHost(host), uri.SameHost(host, "PURL.example.") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSameAuthority(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"Urn.example", "urn.example.", true},
		{"urn.example:8080", "URN.example.:8080", true},
		{"urn.example:", "urn.example", true},
		{"urn.example:80", "urn.example", false},
		{"urn.example:80", "urn.example:81", false},
		{"[::1]:80", "[::1]:80", true},
		{"[::1]", "[0::1]", true},
		{"a@urn.example", "urn.example", false},
	} {
		if got := uri.SameAuthority(tt.a, tt.b); got != tt.same || uri.SameAuthority(tt.b, tt.a) != tt.same {
			t.Errorf("%q and %q: %v", tt.a, tt.b, got)
		}
	}
}

func TestSameServer(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"http://a.example/x", "HTTP://A.example.:80/y", true},
		{"http://a.example", "https://a.example", false},
		{"http://a.example:80", "http://a.example:8080", false},
		{"https://a.example:443/", "https://u@a.example/", true},
		{"news:a", "NEWS:b", true},
		{"file:///a", "file:/b", false},
		{"x://a:b:c", "x://a:b:d", false},
		{"x://a:b:c", "X://a:b:c", true},
		{"ftp://a.example:21/", "ftp://a.example/", true},
	} {
		a, err := uri.Parse(tt.a)
		if err != nil {
			t.Fatal(err)
		}
		b, err := uri.Parse(tt.b)
		if err != nil {
			t.Fatal(err)
		}
		if got := uri.SameServer(a, b); got != tt.same || uri.SameServer(b, a) != tt.same {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
	}
}

// FuzzCanonicalHost checks that the canonical form is unique.
func FuzzCanonicalHost(f *testing.F) {
	for _, host := range []string{
		"PURL.example.", "[::A]", "[", "%", "%5B", "p%75rl", "b%C3%BCcher.example", "..",
		"[%41]", "a%", "a%4", "%%41",
	} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if once := uri.CanonicalHost(host); !strings.HasSuffix(once, ".") && !uri.SameHost(host, once) {
			t.Errorf("%q is not %q", host, once)
		}
	})
}
