package scheme_test

import (
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
)

func TestInfos(t *testing.T) {
	all := scheme.Infos{
		{
			Names: []string{"ftp"}, Noun: "file", Service: "file transfer", OtherPorts: []uint16{20}, Cacheable: true,
			Browsable: true,
		},
		{Names: []string{"telnet", "tn3270"}, Browsable: true},
		{Names: []string{"mailto"}, Cacheable: true},
	}
	if info, ok := all.Find("tn3270"); !ok || info.Names[0] != "telnet" {
		t.Errorf("tn3270: %+v, %t", info, ok)
	}
	if info, ok := all.Find("FTP"); ok {
		t.Errorf("a scheme that is not in lower case: %+v", info)
	}
	for u, want := range map[string]string{
		"ftp://a.example/": "file", "FTP://a.example/": "file", "ftp": "file",
		"telnet://a.example": "resource", "http://a.example/": "resource", "": "resource", "/ftp:": "resource",
	} {
		if got := all.Noun(u); got != want {
			t.Errorf("%q: %s", u, got)
		}
	}
	for name, want := range map[string][2]bool{
		"ftp": {true, true}, "tn3270": {false, true}, "mailto": {true, false}, "http": {true, false},
		"https": {true, false}, "urn": {}, "": {},
	} {
		if all.Cacheable(name) != want[0] || all.Browsable(name) != want[1] {
			t.Errorf("%q: stored %t, browsable %t", name, all.Cacheable(name), all.Browsable(name))
		}
	}
	for port, want := range map[uint16]string{20: "file transfer", 21: "file transfer", 23: "", 0: "", 80: ""} {
		if got := all.ServiceAt(port); got != want {
			t.Errorf("%d: %q", port, got)
		}
	}
}
