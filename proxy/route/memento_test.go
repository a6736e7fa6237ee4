package route_test

import (
	"errors"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/uri"
)

func TestParseMoments(t *testing.T) {
	noon := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	for target, want := range map[string]struct {
		moment route.Memento
		uri    string
	}{
		"/timegate/urn:a1:b":  {route.Memento{Role: route.RoleTimeGate}, "urn:a1:b"},
		"/timemap/urn:a1:b":   {route.Memento{Role: route.RoleTimeMap}, "urn:a1:b"},
		"/timemap/1/urn:a1:b": {route.Memento{Role: route.RoleTimeMap, Page: 1}, "urn:a1:b"},
		"/timemap/999999/http://a/?b=/c": {
			route.Memento{Role: route.RoleTimeMap, Page: 999999},
			"http://a/?b=/c",
		},
		"/memento/20310501120000/urn:a1:b":     {route.Memento{Role: route.RoleMemento, Datetime: noon}, "urn:a1:b"},
		"/memento/20310501120000/urn%3aa1%3Ab": {route.Memento{Role: route.RoleMemento, Datetime: noon}, "urn:a1:b"},
		// A percent-encoded byte of the name itself stays encoded.
		"/memento/20310501120000/urn:a1:b%2C": {route.Memento{Role: route.RoleMemento, Datetime: noon}, "urn:a1:b%2C"},
		"/urn:a1:b":                           {route.Memento{}, "urn:a1:b"},
	} {
		if got, err := route.Parse(target); err != nil || got.Memento != want.moment ||
			got.Query.URI.String() != want.uri {
			t.Errorf("%s: %+v, %v", target, got, err)
		}
	}
	for target, offset := range map[string]int{
		"/timemap/0/urn:a1:b": 9, "/timemap/01/urn:a1:b": 9, "/timemap/1000000/urn:a1:b": 9,
		"/timemap/99999999999999999999/urn:a1:b": 9, "/timemap/2x/urn:a1:b": 9, "/memento/2031/urn:a1:b": 9,
		"/memento/20311301120000/urn:a1:b": 9, "/memento/20310501120000": 9, "/memento/+2031050112000/urn:a1:b": 9,
		"/memento/20310501120000.5/urn:a1:b": 9, "/memento/urn:a1:b": 9, "/timegate/": 0, "/timegate/b": 0,
		"/timemap/1/": 0, "/memento/20310501120000/": 0,
	} {
		var parse *uri.ParseError
		if got, err := route.Parse(target); !errors.As(err, &parse) || parse.Offset != offset ||
			got.Form != route.FormMemento {
			t.Errorf("%s: %+v, %v", target, got, err)
		}
	}
}

// FuzzMoment: a parsed target is printed as a path that parses to the same, and that no parser of Link fields splits.
func FuzzMoment(f *testing.F) {
	for _, seed := range []string{
		"/timegate/urn:a1:b", "/timemap/3/urn:a1:b", "/timemap/urn:a1:b,c", "/memento/20310501120000/http://a/?b=c;d",
		"/memento/00000101000000/urn:a1:%2c",
		"/memento/20310501120000/urn%3Aa1%3Ab", "/timegate/ark:/12345/x%2Fy", "/timemap/9/http://[::1]/,",
		"/timegate/urn%3Aa1%3A%25zz",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		got, err := route.Parse(target)
		if err != nil || got.Form != route.FormMemento {
			return
		}
		m, name := got.Memento, got.Query.URI
		path := route.TimeGateURL("", name.String())
		switch m.Role {
		case route.RoleTimeMap:
			path = route.TimeMapURL("", m.Page, name.String())
		case route.RoleMemento:
			path = route.MementoURL("", m.Datetime, name.String())
		}
		for _, c := range []byte(path) {
			if c <= ' ' || c >= 0x7f || c == ',' || c == ';' || c == '<' || c == '>' || c == '"' {
				t.Fatalf("%q becomes %q", target, path)
			}
		}
		again, err := route.Parse(path)
		if err != nil || again.Memento != m || again.Query.URI != name {
			t.Fatalf("%q becomes %q, which is %+v, %v", target, path, again, err)
		}
	})
}
