package route_test

import (
	"testing"
	"unicode/utf8"

	"github.com/urnd/urnd/proxy/route"
)

// Whatever the query is, the values of a search are text, within limits, and survive reuse of the buffer.
func FuzzNames(f *testing.F) {
	for _, query := range []string{
		"", "q=a&prefix=urn:", "after=%2eAAAA&status=withdrawn", "host=%zz&tag=%ff",
		"q=+%20+&lang=de&&=", "status=x",
	} {
		f.Add(query)
	}
	place := places(f)["listing"]
	f.Fuzz(func(t *testing.T, query string) {
		view := route.RequestHead{
			Method: "GET", Target: "/names?" + query, Host: "urnd.example",
			Header: func(string) []string { return nil },
		}
		var ask route.Request
		route.Classify(&ask, &view, &place)
		if ask.Kind != route.KindPage || ask.Target.Names == nil || ask.Err != nil {
			t.Fatalf("%q: %v, %v", query, ask.Kind, ask.Err)
		}
		before := ask.Target.Names.Search
		ask.Clone(func(s string) string { return string([]byte(s)) })
		s := ask.Target.Names.Search
		if s != before {
			t.Errorf("%q: %+v, and lasting %+v", query, before, s)
		}
		for _, field := range []string{s.Prefix, s.Words, s.Host, s.Tag, s.Status, s.After} {
			if len(field) > 2048 || !utf8.ValidString(field) {
				t.Errorf("%q: %q", query, field)
			}
		}
	})
}
