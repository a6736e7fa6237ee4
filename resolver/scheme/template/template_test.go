package template_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/template"
	"github.com/urnd/urnd/uri"
)

func fetch(t *testing.T, text, from string) (*scheme.Resource, error) {
	t.Helper()
	u, err := uri.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	return template.New(template.Config{Template: text}).Fetch(t.Context(),
		scheme.Request{Request: httpmessage.Request{Method: http.MethodGet, URI: u}})
}

func TestRedirects(t *testing.T) {
	for _, c := range []struct{ template, from, to string }{
		{"https://g.example/?url={uri}", "prospero://h/a;b=c", "https://g.example/?url=prospero%3A%2F%2Fh%2Fa%3Bb%3Dc"},
		{
			"https://g.example/{scheme}/{host}/{port}{+path}", "wais://H.example/db/x%20y",
			"https://g.example/wais/H.example/210/db/x%20y",
		},
		{
			"https://g.example/{host}{+path}{?query,port}", "wais://h:8210/db?a%20b",
			"https://g.example/h/db?query=a%2520b&port=8210",
		},
		{"https://g.example/{host}{+path}{?query}", "wais://h/db", "https://g.example/h/db"},
		{"https://g.example/{host}", "gopher://[::1]/", "https://g.example/%5B%3A%3A1%5D"},
		{"https://g.example/{?uri,host,port}", "weather:munich", "https://g.example/?uri=weather%3Amunich"},
		{"https://g.example/?url={uri}", "ftp://user:secret@h/f", "https://g.example/?url=ftp%3A%2F%2Fuser%40h%2Ff"},
		{"gopher://g.example/7/?{uri}", "wais://h/db", "gopher://g.example/7/?wais%3A%2F%2Fh%2Fdb"},
	} {
		t.Run(c.template+" "+c.from, func(t *testing.T) {
			resource, err := fetch(t, c.template, c.from)
			if err != nil || resource.Status != http.StatusFound || resource.Fields.Get("Location") != c.to {
				t.Fatalf("%+v, %v", resource, err)
			}
			if hasUser := strings.Contains(c.from,
				"@"); (resource.Fields.Get("Cache-Control") == "no-store") != hasUser {
				t.Errorf("%v", resource.Fields)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		template, from string
		forbidden      bool
	}{
		{"wais://mirror.example/{+path}", "wais://h/db", true},
		{"WAIS://mirror.example/{+path}", "wais://h/db", true},
		{"{+path}", "x:javascript:alert(1)", true},
		{"javascript:{uri}", "wais://h/db", true},
		{"file:///{host}", "wais://h/db", true},
		{"https://{+host}/", "gopher:///x", false},
		{"{path}", "wais://h/db", false},
		{"https://g.example/{", "wais://h/db", false},
	} {
		resource, err := fetch(t, c.template, c.from)
		var parse *uri.ParseError
		if err == nil || errors.Is(err, resolver.ErrForbidden) != c.forbidden || errors.As(err, &parse) {
			t.Errorf("%s of %s: %+v, %v", c.template, c.from, resource, err)
		}
	}
}
