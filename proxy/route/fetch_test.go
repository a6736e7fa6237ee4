package route_test

import (
	"testing"

	"github.com/urnd/urnd/proxy/route"
)

// A URI that is not encoded as a whole includes all that follows; words are appended to one that is.
func TestParseFetch(t *testing.T) {
	for target, want := range map[string]string{
		"/fetch?uri=http://h/?a=1&y=2":                                "http://h/?a=1&y=2",
		"/fetch?uri=http://h/?a=1&search=x":                           "http://h/?a=1&search=x",
		"/fetch?uri=http://h/?a=1&uri=x":                              "http://h/?a=1&uri=x",
		"/fetch?search=x&uri=http://h/?a=1&b":                         "http://h/?a=1&b",
		"/fetch?uri=http://h/?a=b+c":                                  "http://h/?a=b+c",
		"/fetch?uri=gopher://h/7a%2509b":                              "gopher://h/7a%09b",
		"/fetch?uri=http%3A%2F%2Fh%2F%3Fa%3D1&y=2":                    "http://h/?a=1",
		"/fetch?uri=http%3a//h:80/?a=1&y=2":                           "http://h:80/?a=1",
		"/fetch?uri=gopher%3A%2F%2Fh%2F7%2509&search=c%2B%2B":         "gopher://h/7%09c%2B%2B",
		"/fetch?search=two+w%C3%B6rds&uri=gopher%3A%2F%2Fh%2F7%2509":  "gopher://h/7%09two%20w%C3%B6rds",
		"/fetch?uri=gopher%3A%2F%2Fh%2F7%2509&search=-._~%26%3D%3F/:": "gopher://h/7%09-._~%26%3D%3F%2F%3A",
		"/fetch?uri=%3CURL%3Ahttp%3A%2F%2Fh%2F%3E":                    "http://h/",
	} {
		got, err := route.Parse(target)
		if err != nil || got.Form != route.FormFetch || got.Query.URI.String() != want {
			t.Errorf("%s: %q, %v, want %q", target, got.Query.URI, err, want)
		}
	}
	for _, target := range []string{
		"/fetch", "/fetch?uri=", "/fetch?search=a", "/fetch?uri=gopher%3A%2F%2Fh%2F7&search=%zz", "/fetch?uri=no",
		"/fetch?uri=gopher%3A%2F%2Fh%2F7%2509&search=%0D%0A",
	} {
		if got, err := route.Parse(target); err == nil {
			t.Errorf("%s: %q", target, got.Query.URI)
		}
	}
}
