package answer

import (
	"net/http"
	"testing"

	"github.com/urnd/urnd/resolver"
)

// Clients that do not say what they accept get what the resolver prefers.
func TestChoose(t *testing.T) {
	a := New(Config{Failing: func(location string) bool { return location == "http://failing/" }})
	at := func(uri, kind, language string) resolver.Location {
		return resolver.Location{URI: uri, From: &resolver.Source{Type: kind, Language: language}}
	}
	page, file, untyped := at("http://page/", "text/html", ""), at("http://pdf/", "application/pdf", ""), at("http://untyped/", "", "")
	german, english := at("http://de/", "", "de"), at("http://en/", "", "en")
	for name, tt := range map[string]struct {
		locations []resolver.Location
		header    http.Header
		want      string
		vary      string
	}{
		"one":                            {[]resolver.Location{page}, nil, "http://page/", ""},
		"no types":                       {[]resolver.Location{untyped, at("http://b/", "", "")}, nil, "http://untyped/", ""},
		"failing first":                  {[]resolver.Location{at("http://failing/", "", ""), untyped}, nil, "http://untyped/", ""},
		"no Accept":                      {[]resolver.Location{page, untyped}, nil, "http://page/", "Accept"},
		"any type":                       {[]resolver.Location{page, untyped}, http.Header{"Accept": {"*/*"}}, "http://page/", "Accept"},
		"another type":                   {[]resolver.Location{page, file}, http.Header{"Accept": {"application/pdf"}}, "http://pdf/", "Accept"},
		"a type that no one has":         {[]resolver.Location{page, untyped}, http.Header{"Accept": {"image/png"}}, "http://untyped/", "Accept"},
		"only types that no one accepts": {[]resolver.Location{page, file}, http.Header{"Accept": {"image/png"}}, "http://page/", "Accept"},
		"no Accept-Language":             {[]resolver.Location{german, english}, nil, "http://de/", "Accept-Language"},
		"language":                       {[]resolver.Location{german, english}, http.Header{"Accept-Language": {"en-GB"}}, "http://en/", "Accept-Language"},
	} {
		got, vary := a.choose(tt.header, tt.locations)
		if got.URI != tt.want || vary != tt.vary {
			t.Errorf("%s: %s, Vary %q", name, got.URI, vary)
		}
	}
}
