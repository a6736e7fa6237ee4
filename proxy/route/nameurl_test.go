package route_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// The URLs of a name contain no comma or semicolon, at which clients may split a Link field (RFC 8288 section 3).
func TestNameURL(t *testing.T) {
	const base = "https://urn.example"
	for name, want := range map[string][2]string{
		"urn:a1:b": {base + "/urn:a1:b", base + "/uri-res/N2C.linkset?urn:a1:b"},
		"urn:a1:b,c;d%2Ce": {
			base + "/urn%3Aa1:b%2Cc%3Bd%252Ce",
			base + "/uri-res/N2C.linkset?urn%3Aa1:b%2Cc%3Bd%252Ce",
		},
		"ark:12345/x": {base + "/ark:12345/x", base + "/uri-res/L2C.linkset?ark:12345/x"},
		"https://purl.example/a?b": {
			"https://purl.example/a?b",
			base + "/uri-res/L2C.linkset?https://purl.example/a?b",
		},
		"https://purl.example/a,?": {
			base + "/https%3A//purl.example/a%2C%3F",
			base + "/uri-res/L2C.linkset?https%3A//purl.example/a%2C%3F",
		},
	} {
		if got := string(route.AppendNameURL(nil, base, name)); got != want[0] {
			t.Errorf("%s: %s", name, got)
		}
		if got := string(route.AppendServiceURL(nil, base, "2C", "linkset", name)); got != want[1] {
			t.Errorf("%s: the linkset is %s", name, got)
		}
	}
}

// The URLs of a name parse to that name.
func FuzzNameURL(f *testing.F) {
	for _, seed := range []string{
		"urn:a1:b", "urn:a1:b,c;d%2Ce", "https://purl.example/a?b,c", "ark:12345/x.y",
		"urn:a1:%25,",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		u, err := uri.Parse(name)
		if err != nil || !u.IsAbsolute() || strings.ContainsAny(name, "#") || u.IsURN() && !isURN(u) {
			return
		}
		for _, target := range []string{
			string(route.AppendServiceURL(nil, "", "2C", "linkset", name)),
			string(route.AppendServiceURL(nil, "", "2C", "", name)),
		} {
			got, err := route.Parse(target)
			if err != nil || got.Query.URI != u || got.Query.Service != resolver.I2C {
				t.Errorf("%s: %s, %v", target, got.Query.URI, err)
			}
			if strings.ContainsAny(target, ",;") {
				t.Errorf("%s is split by clients", target)
			}
		}
		target := string(route.AppendNameURL(nil, "", name))
		if got, err := route.Parse(target); strings.HasPrefix(target, "/") && u.IsURN() &&
			(err != nil || got.Query.URI != u) {
			t.Errorf("%s: %s, %v", target, got.Query.URI, err)
		}
	})
}

func isURN(u uri.URI) bool {
	_, err := u.URN()
	return err == nil
}
