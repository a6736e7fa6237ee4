package route_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

func TestParse(t *testing.T) {
	for target, want := range map[string]struct {
		form    route.Form
		uri     string
		service resolver.Service
	}{
		"/":                                     {form: route.FormHome},
		"/urn:a1:b":                             {form: route.FormPath, uri: "urn:a1:b"},
		"/urn:a1:b?+r#f":                        {form: route.FormPath, uri: "urn:a1:b?+r#f"},
		"/?uri=urn:a1:b%3F+r":                   {form: route.FormPath, uri: "urn:a1:b?+r"},
		"/?uri=+urn:a1:b+":                      {form: route.FormPath, uri: "urn:a1:b"},
		"/?uri=+urn:a1:b%3F%2Br+":               {form: route.FormPath, uri: "urn:a1:b?+r"},
		"/?uri=urn:a1:b+c":                      {form: route.FormPath, uri: "urn:a1:b+c"},
		"/?x=1&uri=urn:a1:b":                    {form: route.FormPath, uri: "urn:a1:b"},
		"/uri-res/N2Ls?urn:a1:b":                {form: route.FormTHTTP, uri: "urn:a1:b", service: resolver.I2Ls},
		"/uri-res/l2c?http://a/?":               {form: route.FormTHTTP, uri: "http://a/?", service: resolver.I2C},
		"/uri-res/I=I?urn:a1:b%20c%20http://a/": {form: route.FormTHTTP, uri: "urn:a1:b%20c", service: resolver.IisI},
		"/urn:a1:b?s=I2Ls":                      {form: route.FormPath, uri: "urn:a1:b?s=I2Ls", service: resolver.I2Ls},
		"/urn:a1:b?s=I=I":                       {form: route.FormPath, uri: "urn:a1:b?s=I=I"},
		"/?uri=urn:a1:ä":                        {form: route.FormPath, uri: "urn:a1:%C3%A4"},
		"urn:a1:b":                              {form: route.FormTarget, uri: "urn:a1:b"},
		"http://a/b//../c":                      {form: route.FormForward, uri: "http://a/b//../c"},
		"/api/v1/resolve?uri=urn:a1:b&service=n2r": {form: route.FormAPI, uri: "urn:a1:b", service: resolver.I2R},
	} {
		got, err := route.Parse(target)
		if err != nil || got.Form != want.form || got.Query.URI.String() != want.uri ||
			got.Query.Service != want.service {
			t.Errorf("%s: %+v, %v", target, got, err)
		}
	}
}

// The two URIs of I=I may be percent-encoded, each as a whole or both together.
func TestPair(t *testing.T) {
	for pair, want := range map[string][2]string{
		"urn:a1:b%20c%20http://a/":            {"urn:a1:b%20c", "http://a/"},
		"urn%3Aa1%3Ab%20urn%3aa1%3ac%2C":      {"urn:a1:b", "urn:a1:c,"},
		"urn%3Aa1%3Ab%2520c%20http%3A%2F%2Fa": {"urn:a1:b%20c", "http://a"},
		"urn:a1:b%20c%20urn%3Aa1%3Ad":         {"urn:a1:b%20c", "urn:a1:d"},
		"urn:a1:b%20c%3Ad%20urn:a1:e":         {"urn:a1:b%20c%3Ad", "urn:a1:e"},
	} {
		got, err := route.Parse("/uri-res/I=I?" + pair)
		if uris := [2]string{got.Query.URI.String(), got.Other.String()}; err != nil || uris != want {
			t.Errorf("%s: %q, %v, want %q", pair, uris, err, want)
		}
	}
}

// FuzzParse: a target parses to a query with a valid URI, to the home page, or to an error with status 4xx or 501.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"/", "*", "/urn:a1:b", "urn:a1:b?+r", "/uri-res/N2L?urn:a1:b",
		"/api/v1/resolve?uri=%zz&service=I=I", "http://a/", "/?uri=",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, target string) {
		got, err := route.Parse(target)
		var parse *uri.ParseError
		var negative *resolver.Negative
		switch {
		case errors.As(err, &parse):
			if parse.Offset < 0 || parse.Offset > len(parse.Input) || problem.Status(err) != 400 {
				t.Fatalf("%q: %v", target, err)
			}
			if page := string(problem.Reply(pages.New(pages.Site{}),
				httpmessage.NewFields("Accept", "text/html").Values, err).Body); strings.Contains(page, "<script") {
				t.Fatalf("%q: the page holds markup of the input: %s", target, page)
			}
		case errors.As(err, &negative):
			if problem.Status(err) != 501 {
				t.Fatalf("%q: %v", target, err)
			}
		case err != nil:
			t.Fatalf("%q: an error of another kind: %v", target, err)
		case got.Form != route.FormHome && !got.Query.URI.IsAbsolute():
			t.Fatalf("%q: no absolute URI", target)
		}
	})
}

// The parameter lang belongs to pages of this server only: in the query of a name, or of a URL that is not
// encoded, it is part of that.
func TestParseLanguage(t *testing.T) {
	for _, tt := range []struct{ target, form, language, name string }{
		{"/?lang=de", "home", "de", ""},
		{"/?lang=zh-Hans&uri=", "home", "zh-Hans", ""},
		{"/?uri=urn:example:a&lang=fr", "path", "fr", "urn:example:a"},
		{"/?lang=fr&uri=urn:example:a", "path", "fr", "urn:example:a"},
		{"/fetch?lang=de", "fetch", "de", ""},
		{"/fetch?uri=gopher%3A%2F%2Fa.example%2F&lang=de", "fetch", "de", "gopher://a.example/"},
		{"/fetch?lang=de&uri=gopher://a.example/", "fetch", "de", "gopher://a.example/"},
		{"/fetch?uri=http://a.example/?b&lang=de", "fetch", "", "http://a.example/?b&lang=de"},
		{"/fetch?x=y&uri=http://a.example/?b&lang=de", "fetch", "", "http://a.example/?b&lang=de"},
		{"/urn:example:a?=lang=de", "path", "", "urn:example:a?=lang=de"},
		{"/http://a.example/?lang=de", "path", "", "http://a.example/?lang=de"},
		{"/uri-res/N2L?urn:example:a?=&lang=de", "thttp", "", "urn:example:a?=&lang=de"},
		{"/api/v1/resolve?uri=urn:example:a&lang=de", "api", "", "urn:example:a"},
		{"/?lang=d%65", "path", "", ""},
		{"/?lang=" + strings.Repeat("a", 36), "path", "", ""},
		{"/?lang=", "path", "", ""},
		{"/?lang=<b>&uri=urn:example:a", "path", "", "urn:example:a"},
	} {
		got, _ := route.Parse(tt.target)
		if got.Form.String() != tt.form || got.Language != tt.language || got.Query.URI.String() != tt.name {
			t.Errorf("%s: %s %q %q", tt.target, got.Form, got.Language, got.Query.URI)
		}
	}
}
