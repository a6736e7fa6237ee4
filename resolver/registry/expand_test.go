package registry_test

import (
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// The rest of a name behind its prefix leaves neither the path nor the server of the target.
func TestExpand(t *testing.T) {
	const plain = "https://a.example/id/"
	for _, tt := range []struct{ target, suffix, want string }{
		{plain, "x", "https://a.example/id/x"},
		{plain, "x/y.z/", "https://a.example/id/x/y.z/"},
		{plain, "", "https://a.example/id/"},
		{plain, "..x/...", "https://a.example/id/..x/..."},
		{plain, "x?a=../b//c", "https://a.example/id/x?a=../b//c"},
		{plain, "..", ""},
		{plain, "../x", ""},
		{plain, "x/../../y", ""},
		{plain, "./x", ""},
		{plain, "%2e%2E/x", ""},
		{plain, ".%2e/x", ""},
		{plain, "x/%2e%2e%2fy", ""},
		{plain, "..;/x", ""},
		{plain, "/x", ""},
		{plain, "x//y", ""},
		{plain, "x%5Cy", ""},
		{plain, "x%5c..%5cy", ""},
		{"https://a.example/get?id=", "../x//y", "https://a.example/get?id=../x//y"},
		{"https://a.example/web/http://b.example/", "x", "https://a.example/web/http://b.example/x"},
		{"https://a.example/id", ":x", "https://a.example/id:x"},
		{"https://a.example/.", "./x", ""},

		{"https://a.example/{suffix}/v", "x/y", "https://a.example/x%2Fy/v"},
		{"https://a.example/{suffix}/v", "../y", ""},
		{"https://a.example/é/bc/{+suffix}", "x/y", "https://a.example/%C3%A9/bc/x/y"},
		{"https://a.example/é/bc/{+suffix}", "../y", ""},
		{"https://a.example/{+suffix}", "x/y", "https://a.example/x/y"},
		{"https://a.example/{+suffix}", "../y", ""},
		{"https://a.example/{+suffix}", "/b.example", ""},
		{"https://a.example/get{?suffix}", "../y", "https://a.example/get?suffix=..%2Fy"},
		{"https://a.example/#{+suffix}", "../y", "https://a.example/#../y"},
		{"https://a.example{/suffix}", "x", "https://a.example/x"},
		{"https://a.example{/suffix}", "..", ""},
		{"https://a.example{?suffix}", "..", "https://a.example?suffix=.."},
		{"https://a.example{+suffix}", ".evil.example/x", ""},
		{"https://a.example{+suffix}", "@evil.example/x", ""},
		{"https://a.example{+suffix}", "0", ""},
		{"https://a.example{suffix}", ".evil.example", ""},
		{"https://a.example:8{suffix}/", "1", ""},
		{"https://{+suffix}.a.example/", "evil.example/", ""},
		{"{+suffix}", "https://evil.example/", ""},
		{"mailto:{suffix}", "x", "mailto:x"},
		{"urn:other:", "a//..", "urn:other:a//.."},
	} {
		const prefix = "urn:example:p:"
		got, err := registry.Target{URI: tt.target}.Location(registry.Prefix(prefix), prefix+tt.suffix)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s and %q: %q, %v, want %q", tt.target, tt.suffix, got, err, tt.want)
		}
	}
}

// A target whose server would depend on the name is rejected.
func TestTemplateOfServer(t *testing.T) {
	f := newFixture(t)
	for target, good := range map[string]bool{
		"https://a.example/": true, "https://a.example/{+suffix}": true, "https://a.example{/suffix}": true,
		"https://a.example{?suffix}": true, "https://a.example/x": true,
		"https://a.example": false, "https://a.example{+suffix}": false, "https://a.example{suffix}": false,
		"https://{suffix}.a.example/":  false,
		"https://a.example:8{suffix}/": false, "https://a.{nss}/": false,
	} {
		if _, err := f.edit(t, registry.Prefix("urn:example:p:"), registry.Put(leadsTo(target))); (err == nil) != good {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// FuzzExpand checks that locations begin with the target, and stay below it after the removal of dot segments
// (RFC 3986 section 5.2.4).
func FuzzExpand(f *testing.F) {
	for _, suffix := range []string{"x", "../y", "%2e%2e/", "a//b", "\\", "?../", "%5c"} {
		f.Add(suffix)
	}
	f.Fuzz(func(t *testing.T, suffix string) {
		const prefix, target = "urn:example:p:", "https://a.example/id/"
		checkStays(t, target, suffix, registry.Target{URI: target}, registry.Prefix(prefix), prefix+suffix)
		checkStays(t, target, suffix, registry.Target{URI: target + "{+suffix}"}, registry.Prefix(prefix),
			prefix+suffix)
	})
}

func checkStays(t *testing.T, target, suffix string, of registry.Target, key registry.Key, name string) {
	t.Helper()
	location, err := of.Location(key, name)
	if err != nil {
		return
	}
	u, err := url.Parse(location)
	if err != nil {
		return // not a URI, hence not a location
	}
	if cleaned := path.Clean("/" + u.Path); u.Host != "a.example" || !strings.HasPrefix(cleaned+"/", "/id/") {
		t.Errorf("%s and %q: %s", target, suffix, location)
	}
}
