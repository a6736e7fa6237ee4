package route_test

import (
	"testing"
	"unicode/utf8"

	"github.com/urnd/urnd/proxy/route"
)

// The handle of a name is the inverse of the name of a handle.
func TestHandleOf(t *testing.T) {
	handles := route.Handles{{Prefix: "20.500.1", Names: "urn:example:"}, {Prefix: "10.5555", Names: "doi:10.5555/"}}
	for name, want := range map[string]string{
		"urn:example:a1": "20.500.1/a1", "urn:example:a%20b/%C3%A4": "20.500.1/a b/ä", "doi:10.5555/x": "10.5555/x",
		"urn:example:": "", "urn:other:a": "", "doi:10.5556/x": "", "urn:example:%4": "",
	} {
		if got := handles.Find(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := route.Handles(nil).Find("urn:example:a1"); got != "" {
		t.Errorf("without handles: %q", got)
	}
}

// A request for a handle is for a name with the prefix, or invalid.
func FuzzHandle(f *testing.F) {
	for _, seed := range []string{
		"20.500.1/a1", "20.500.1%2fa%3F?type=URL", "10.5555/%C3%A4", "%2F", "20.500.1/%",
		"a/b/c?&&=", "20.500.1//", "20.500.1/?a",
	} {
		f.Add(seed)
	}
	place := places(f)["handles"]
	f.Fuzz(func(t *testing.T, text string) {
		view := route.RequestHead{
			Method: "GET", Target: route.PathHandles + text, Host: "urnd.example",
			Header: func(string) []string { return nil },
		}
		var ask route.Request
		route.Classify(&ask, &view, &place)
		switch name := ask.Target.Query.URI.String(); {
		case ask.Kind != route.KindName || !utf8.ValidString(ask.Target.Handle):
			t.Errorf("%q: %s, handle %q", text, ask.Kind, ask.Target.Handle)
		case ask.Err == nil && !place.Names.Owns(ask.Target.Query.URI) && !ask.Target.Query.IsURN():
			t.Errorf("%q asks for %s", text, name)
		}
	})
}
