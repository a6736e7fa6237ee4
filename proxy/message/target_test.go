package message_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

func TestParse(t *testing.T) {
	for target, want := range map[string]struct {
		form    message.Form
		uri     string
		service resolver.Service
	}{
		"/":                                     {form: message.FormHome},
		"/urn:a1:b":                             {form: message.FormPath, uri: "urn:a1:b"},
		"/urn:a1:b?+r#f":                        {form: message.FormPath, uri: "urn:a1:b?+r#f"},
		"/?uri=urn:a1:b%3F+r":                   {form: message.FormPath, uri: "urn:a1:b?+r"},
		"/?uri=+urn:a1:b+":                      {form: message.FormPath, uri: "urn:a1:b"},
		"/?uri=+urn:a1:b%3F%2Br+":               {form: message.FormPath, uri: "urn:a1:b?+r"},
		"/?uri=urn:a1:b+c":                      {form: message.FormPath, uri: "urn:a1:b+c"},
		"/?x=1&uri=urn:a1:b":                    {form: message.FormPath, uri: "urn:a1:b"},
		"/uri-res/N2Ls?urn:a1:b":                {form: message.FormTHTTP, uri: "urn:a1:b", service: resolver.I2Ls},
		"/uri-res/l2c?http://a/?":               {form: message.FormTHTTP, uri: "http://a/?", service: resolver.I2C},
		"/uri-res/I=I?urn:a1:b%20c%20http://a/": {form: message.FormTHTTP, uri: "urn:a1:b%20c", service: resolver.IisI},
		"/urn:a1:b?s=I2Ls":                      {form: message.FormPath, uri: "urn:a1:b?s=I2Ls", service: resolver.I2Ls},
		"/urn:a1:b?s=I=I":                       {form: message.FormPath, uri: "urn:a1:b?s=I=I"},
		"/?uri=urn:a1:ä":                        {form: message.FormPath, uri: "urn:a1:%C3%A4"},
		"urn:a1:b":                              {form: message.FormTarget, uri: "urn:a1:b"},
		"http://a/b//../c":                      {form: message.FormForward, uri: "http://a/b//../c"},
		"/api/v1/resolve?uri=urn:a1:b&service=n2r": {form: message.FormAPI, uri: "urn:a1:b", service: resolver.I2R},
	} {
		got, err := message.Parse(target)
		if err != nil || got.Form != want.form || got.Query.URI.String() != want.uri || got.Query.Service != want.service {
			t.Errorf("%s: %+v, %v", target, got, err)
		}
	}
}

// FuzzParse: a target leads to a query with a valid URI, to the home
// page, or to an error that has a 4xx or 501 of its own.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"/", "*", "/urn:a1:b", "urn:a1:b?+r", "/uri-res/N2L?urn:a1:b", "/api/v1/resolve?uri=%zz&service=I=I", "http://a/", "/?uri="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, target string) {
		got, err := message.Parse(target)
		var parse *uri.ParseError
		var negative *resolver.Negative
		switch {
		case errors.As(err, &parse):
			if parse.Offset < 0 || parse.Offset > len(parse.Input) || problem.Status(err) != 400 {
				t.Fatalf("%q: %v", target, err)
			}
			if page := string(problem.Reply(http.Header{"Accept": {"text/html"}}, err).Body); strings.Contains(page, "<script") {
				t.Fatalf("%q: the page holds markup of the input: %s", target, page)
			}
		case errors.As(err, &negative):
			if problem.Status(err) != 501 {
				t.Fatalf("%q: %v", target, err)
			}
		case err != nil:
			t.Fatalf("%q: an error of another kind: %v", target, err)
		case got.Form != message.FormHome && !got.Query.URI.IsAbsolute():
			t.Fatalf("%q: no absolute URI", target)
		}
	})
}

// Cached redirects, the hot path, make few allocations.
func TestRedirectAllocations(t *testing.T) {
	answer := resolver.Answer{TTL: 90e9, Cache: resolver.CacheHit}
	w := httptest.NewRecorder()
	write := func() {
		clear(w.Header())
		message.Write(w, http.MethodGet, message.Redirect(message.FormPath, true, "https://a.example/", "", answer))
	}
	write()
	if n := testing.AllocsPerRun(100, write); n > 2 {
		t.Errorf("%v allocations, want 2", n)
	}
}
