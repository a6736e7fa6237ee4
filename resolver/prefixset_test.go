package resolver_test

import (
	"fmt"
	"testing"

	"github.com/urnd/urnd/resolver"
)

func TestBeginnings(t *testing.T) {
	var known resolver.PrefixSet
	for _, c := range []struct {
		name, beginning string
		isNew           bool
	}{
		{"urn:nbn:fi:a", "urn:", false},
		{"ark:/12345/x1", "ark:/12345/", true},
		{"ark:/12345/x2", "ark:/12345/", false},
		{"hdl:20.500.9/a/b", "hdl:20.500.9/", true},
		{"https://purl.example/a", "https://purl.example/", true},
		{"tag:a.example,2026:x", "tag:", true},
		{"info:", "info:", true},
		{"", "", false},
	} {
		if beginning, isNew := known.Add(c.name); beginning != c.beginning || isNew != c.isNew {
			t.Errorf("%s: %q, %t", c.name, beginning, isNew)
		}
	}
	for name, want := range map[string]bool{
		"ark:/12345/y": true, "ark:/12346/y": false, "ark:/123": false, "hdl:20.500.9/z": true,
		"hdl:20.500.91/z": false, "https://purl.example/": true,
		"https://purl.example.org/": false, "http://purl.example/": false, "tag:b": true, "info:lccn/1": true,
		"urn:a:b": false, "": false,
	} {
		if got := known.Contains(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	for i := range 100_000 {
		known.Add(fmt.Sprintf("https://h%d.example/", i))
	}
	if beginning, isNew := known.Add("ark:/99999/x"); beginning != "ark:" || !isNew ||
		!known.Contains("ark:/88888/y") || known.Contains("hdl:20.500.91/z") {
		t.Errorf("beyond the bound there is %q, %t", beginning, isNew)
	}
	if (*resolver.PrefixSet)(nil).Contains("ark:/12345/y") || !resolver.AllPrefixes().Contains("ark:/1/y") {
		t.Error("none and all are indistinguishable")
	}
}
