package proxy

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

func TestParseTarget(t *testing.T) {
	for target, want := range map[string]struct {
		form    form
		uri     string
		service resolver.Service
	}{
		"/":                                     {form: formHome},
		"/urn:a1:b":                             {form: formPath, uri: "urn:a1:b"},
		"/urn:a1:b?+r#f":                        {form: formPath, uri: "urn:a1:b?+r#f"},
		"/?uri=urn:a1:b%3F+r":                   {form: formPath, uri: "urn:a1:b?+r"},
		"/?x=1&uri=urn:a1:b":                    {form: formPath, uri: "urn:a1:b"},
		"/uri-res/N2Ls?urn:a1:b":                {form: formTHTTP, uri: "urn:a1:b", service: resolver.I2Ls},
		"/uri-res/l2c?http://a/?":               {form: formTHTTP, uri: "http://a/?", service: resolver.I2C},
		"/uri-res/I=I?urn:a1:b%20c%20http://a/": {form: formTHTTP, uri: "urn:a1:b%20c", service: resolver.IisI},
		"/urn:a1:b?s=I2Ls":                      {form: formPath, uri: "urn:a1:b?s=I2Ls", service: resolver.I2Ls},
		"/urn:a1:b?s=I=I":                       {form: formPath, uri: "urn:a1:b?s=I=I"},
		"/?uri=urn:a1:ä":                        {form: formPath, uri: "urn:a1:%C3%A4"},
		"urn:a1:b":                              {form: formTarget, uri: "urn:a1:b"},
		"http://a/b//../c":                      {form: formForward, uri: "http://a/b//../c"},
		"/api/v1/resolve?uri=urn:a1:b&service=n2r": {form: formAPI, uri: "urn:a1:b", service: resolver.I2R},
	} {
		got, err := parseTarget(target)
		if err != nil || got.form != want.form || got.query.URI.String() != want.uri || got.query.Service != want.service {
			t.Errorf("%s: %+v, %v", target, got, err)
		}
	}
}

// FuzzParseTarget: a target leads to a query with a valid URI, to the home
// page, or to an error that has a 4xx or 501 of its own.
func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"/", "*", "/urn:a1:b", "urn:a1:b?+r", "/uri-res/N2L?urn:a1:b", "/api/v1/resolve?uri=%zz&service=I=I", "http://a/", "/?uri="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, target string) {
		got, err := parseTarget(target)
		var parse *uri.ParseError
		var negative *resolver.Negative
		switch {
		case errors.As(err, &parse):
			if parse.Offset < 0 || parse.Offset > len(parse.Input) || statusOf(err) != 400 {
				t.Fatalf("%q: %v", target, err)
			}
			if page := string(errorPage(newProblem(err, target))); strings.Contains(page, "<script") {
				t.Fatalf("%q: the page holds markup of the input: %s", target, page)
			}
		case errors.As(err, &negative):
			if statusOf(err) != 501 {
				t.Fatalf("%q: %v", target, err)
			}
		case err != nil:
			t.Fatalf("%q: an error of another kind: %v", target, err)
		case got.form != formHome && !got.query.URI.IsAbsolute():
			t.Fatalf("%q: no absolute URI", target)
		}
	})
}

// The path of every cached answer stays short.
func TestWriteRedirectAllocations(t *testing.T) {
	answer := resolver.Answer{TTL: 90e9, Cache: resolver.CacheHit}
	w := httptest.NewRecorder()
	writeRedirect(w, 302, "https://a.example/", answer)
	if n := testing.AllocsPerRun(100, func() {
		clear(w.Header())
		writeRedirect(w, 302, "https://a.example/", answer)
	}); n > 2 {
		t.Errorf("%v allocations, want 2", n)
	}
}
