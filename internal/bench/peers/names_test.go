//go:build linux

package main

import "testing"

func TestRegisteredNames(t *testing.T) {
	seen := map[string]bool{}
	for n := range uint64(registeredNames) {
		seen[registeredName(n)] = true
	}
	if len(seen) != registeredNames {
		t.Errorf("%d names", len(seen))
	}
	if got := registeredTarget("urn:example:item:000007"); got != "https://items.example/000007" {
		t.Error(got)
	}
}
