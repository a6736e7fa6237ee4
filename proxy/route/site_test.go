package route_test

import (
	"errors"
	"testing"

	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// sites are the sites of TestSites, by their index.
func sites() route.Sites {
	return route.NewSites([]route.Site{
		{Host: "www.example.org"},
		{Host: "www.example.org", Path: "/api"},
		{Host: "www.example.org", Path: "/api/v2"},
		{Host: "*.example.org"},
		{Host: "*.example.org", Path: "/api/v2/private"},
		{Host: "docs.example.org", Path: "/manual"},
		{Host: "id.example.net", Path: "/docs"},
		{Host: "tracked.example.net", Parameters: route.Parameters{Ignored: []string{"utm_*", "fbclid"}, Sorted: true}},
		{Host: "bare.example.net", Parameters: route.Parameters{Ignored: []string{"*"}}},
	})
}

// The most specific site is selected: a host before a pattern, then the longest path. All spellings of a path
// that a server may read as the same select the same site. -1 is none: the request is for urnd itself.
func TestSites(t *testing.T) {
	t.Parallel()
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	server := &route.Server{
		OwnHosts: route.NewOwnHosts("urnd.example"),
		Names:    resolver.Names{Set: set, Accept: uri.CurrentURN}, Sites: sites(),
	}
	for _, tt := range []struct {
		host, target string
		site         int
		key          string // "" is made of the host and the target
	}{
		{"www.example.org", "/", 0, ""},
		{"WWW.Example.ORG.:8080", "/a", 0, "http://www.example.org:8080/a"},
		{"www.example.org", "/apix", 0, ""},
		{"www.example.org", "/API", 0, ""},
		{"www.example.org", "/api", 1, ""},
		{"www.example.org", "/api/", 1, ""},
		{"www.example.org", "/api?q=/api/v2", 1, ""},
		{"www.example.org", "/api/v2/x", 2, ""},
		{"www.example.org", "//api//v2/x", 2, ""},
		{"www.example.org", "/x/../api/v2", 2, "http://www.example.org/api/v2"},
		{"www.example.org", "/x/%2e%2e/api/v2", 2, "http://www.example.org/api/v2"},
		{"www.example.org", "/%61pi/v2", 2, "http://www.example.org/api/v2"},
		{"www.example.org", "/api/v2/..", 1, "http://www.example.org/api/"},
		{"www.example.org", "http://www.example.org/api/v2", 2, "http://www.example.org/api/v2"},
		{"www.example.org", "/api/v2/private", 2, ""}, // the host precedes the pattern
		{"other.example.org", "/api/v2/x", 3, ""},
		{"other.example.org", "/api/v2/private/x", 4, ""},
		{"docs.example.org", "/manual/1", 5, ""},
		{"docs.example.org", "/other", 3, ""}, // without a matching path of its own, the pattern applies
		{"a.b.example.org", "/", -1, ""},
		{"example.org", "/", -1, ""},
		{"id.example.net", "/docs/a", 6, ""},
		{"id.example.net", "/urn:ietf:rfc:2648", -1, ""},
		{"tracked.example.net", "/a?utm_source=x&b=2&a=1&utm%5Fid=3", 7, "http://tracked.example.net/a?a=1&b=2"},
		{"tracked.example.net", "/a?fbclid=1", 7, "http://tracked.example.net/a"},
		{"tracked.example.net", "/a?b=2&b=1", 7, "http://tracked.example.net/a?b=2&b=1"},
		{"tracked.example.net", "/a?utmost=1", 7, ""},
		{"tracked.example.net", "/a?", 7, "http://tracked.example.net/a?"},
		{"bare.example.net", "/a?b=1&c", 8, "http://bare.example.net/a"},
	} {
		var ask route.Request
		route.Classify(&ask, &route.RequestHead{
			Method: "GET", Target: tt.target, Host: tt.host,
			Header: func(string) []string { return nil },
		}, &route.Endpoint{Server: server})
		got := -1
		if ask.Kind == route.KindSite && ask.Err == nil {
			got = ask.Site.Index
		}
		want := tt.key
		if want == "" {
			want = "http://" + tt.host + tt.target
		}
		if got != tt.site || got >= 0 && ask.Key.String() != want {
			t.Errorf("%s %s: site %d, %s (%v)", tt.host, tt.target, got, ask.Key, ask.Err)
		}
		if of, err := server.Sites.Find(ask.Key, ask.Spelling); got >= 0 && (err != nil || of != ask.Site) {
			t.Errorf("%s %s: the site of the key is %+v, %v", tt.host, tt.target, of, err)
		}
	}
}

func TestRest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ site, path, want string }{
		{"", "/a/b", "/a/b"},
		{"/api", "/api", ""},
		{"/api", "/api/", "/"},
		{"/api", "/api/x%2Fy", "/x%2Fy"},
		{"/api", "//api/x y", "/x%20y"},
		{"/caf\u00e9", "/caf%C3%A9/a", "/a"},
	} {
		if got := (&route.Site{Path: tt.site}).Rest(tt.path); got != tt.want {
			t.Errorf("%s of %s: %q", tt.path, tt.site, got)
		}
	}
}

// A path that servers may read as one of another site is rejected: one of the sites may be restricted to some clients.
func TestSitesOfAmbiguousPaths(t *testing.T) {
	t.Parallel()
	server := &route.Server{OwnHosts: route.NewOwnHosts("urnd.example"), Sites: sites()}
	for target, ambiguous := range map[string]bool{
		"/x//../api/v2":        true, // for servers that merge slashes first
		"/api//../x":           true,
		"/x/..%2fapi":          true,
		"/api/..%2fx":          true,
		"/x/..;/api":           true, // for Java servlets
		"/api;v=1/x":           true,
		"/x/..%5capi":          true,
		"/x/%2e%2e/api":        false,
		"/api/a%2Fb":           false,
		"/api/v2/a;b=1//c":     false,
		"/x/y//../z":           false,
		"/api/v2%2fprivate/..": true,
	} {
		var ask route.Request
		route.Classify(&ask, &route.RequestHead{
			Method: "GET", Target: target, Host: "www.example.org",
			Header: func(string) []string { return nil },
		}, &route.Endpoint{Server: server})
		if _, err := server.Sites.Find(parsed(t, "http://www.example.org"+target).Normalize(), target); errors.Is(err,
			route.ErrPath) != ambiguous {
			t.Errorf("%s, of a client of the proxy: %v", target, err)
		}
		if is := errors.Is(ask.Err, route.ErrPath); is != ambiguous || ask.Kind != route.KindSite {
			t.Errorf("%s: %v", target, ask.Err)
		}
	}
}

func parsed(t *testing.T, text string) uri.URI {
	t.Helper()
	u, err := uri.ParseRaw(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
