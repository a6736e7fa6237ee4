package proxy_test

import (
	"strings"
	"testing"
	"time"
)

// The fast path is invisible: the same octets in, in any division into packets, give the same octets out with it and
// without, the same end of the connection, metrics, logs and rules.
func TestFastPathIsInvisible(t *testing.T) {
	filled := newStores()
	plain := variants()[0]
	answered := 0
	for _, group := range [][]scripted{boundaries(), readings(), times()} {
		for _, s := range group {
			t.Run(s.name, func(t *testing.T) {
				answered += compare(t, filled, plain, dialog{packets: s.packets}, dialog{packets: s.packets, ending: waits}, dialog{packets: s.packets, ending: leaves})
			})
		}
	}
	const least = 500
	if answered < least {
		t.Errorf("the fast path has answered %d requests", answered)
	}
}

// It is so for all targets and fields, with every configuration: those besides the first one take some of the requests
// each.
func TestFastPathIsInvisibleToVariants(t *testing.T) {
	filled := newStores()
	get, head := requests("GET"), requests("HEAD")
	for i, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			all := append(get, head...)
			if i > 0 {
				const share = 12
				all = every(share, i, get)
			}
			compare(t, filled, v, all...)
		})
	}
}

// every returns one of n dialogs, from some of the first ones on.
func every(n, from int, all []dialog) []dialog {
	var some []dialog
	for i := from % n; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

// requests returns dialogs with all targets and all field lines, each on a connection of its own between two requests for
// a name.
func requests(method string) []dialog {
	var all []dialog
	add := func(request string) {
		one := asked(cachedName)
		request = method + strings.TrimPrefix(request, "GET")
		all = append(all, dialog{packets: []packet{{one + request + one, time.Second}}})
	}
	for _, target := range targets() {
		add(asked(target))
	}
	for _, lines := range fieldLines() {
		for _, target := range []string{cachedName, "/urn:example:typed", "/urn:example:none", cachedPage, "http://www.example/vary"} {
			add(asked(target, strings.Split(lines, "\r\n")...))
		}
	}
	return all
}
