package uri_test

import (
	"testing"

	"github.com/urnd/urnd/uri"
)

func TestARKOfURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://n2t.net/ark:/12345/x-1":   "ark:/12345/x-1",
		"HTTP://a.example:81/ARK:12345/x":  "ARK:12345/x",
		"https://n2t.net/ark:/12345/x?y#z": "ark:/12345/x?y#z",
		"https://n2t.net/ark:":             "",
		"https://n2t.net/ark://12345/x":    "", // its host would be the NAAN
		"https://n2t.net/a/ark:/12345/x":   "", // a page about the ARK, for example in an archive
		"ftp://n2t.net/ark:/12345/x":       "",
		"ark:/12345/x":                     "",
	} {
		ark, ok := mustParse(t, text).ARK()
		if ok != (want != "") || ark.String() != want {
			t.Errorf("%s: %q, %v", text, ark, ok)
		}
	}
}

func TestNameAndSpelling(t *testing.T) {
	for text, want := range map[string][2]string{
		"ARK:12345/x-%31?info#f":     {"ark:/12345/x1", "ark:12345/x-1?info#f"},
		"doi:10.1000/A?b#f":          {"doi:10.1000/a?b", "doi:10.1000/A?b#f"},
		"HTTPS://Host.example?b#f":   {"https://host.example/?b", "https://host.example/?b#f"},
		"ark:/12345/a%E2-%80%90b":    {"ark:/12345/ab", "ark:/12345/a%E2-%80%90b"},
		"ark:12345/a/%e2%80%90/b":    {"ark:/12345/a/b", "ark:12345/a/%E2%80%90/b"},
		"ark:B%c3%bc/C%c3%bc":        {"ark:/b%C3%BC/C%C3%BC", "ark:B%C3%BC/C%C3%BC"},
		"https://h.example/ark:/1/-": {"https://h.example/ark:/1/-", "https://h.example/ark:/1/-"},
	} {
		u := mustParse(t, text)
		if got := [2]string{u.Name().String(), u.Spelling().String()}; got != want {
			t.Errorf("%s: %q", text, got)
		}
		if name := u.Name(); name.Normalize() != name {
			t.Errorf("%s: its name is %q, and normalized again %q", text, name, name.Normalize())
		}
		if again, err := uri.Parse(u.Name().String()); err != nil || again != u.Name() || again.Name() != again {
			t.Errorf("%s: its name is %#v, and parses as %#v, %v", text, u.Name(), again, err)
		}
	}
}
