//go:build linux

package main

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestListedHosts checks that the hosts are always identical, and that none is equal to or below another one.
func TestListedHosts(t *testing.T) {
	const n = 10_000
	first, again := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
	all := make(map[string]bool, n)
	for i := range n {
		line := listedHost(first, i)
		if same := listedHost(again, i); same != line || line[0] != '.' || all[line] {
			t.Fatalf("host %d is %q, and %q", i, line, same)
		}
		all[line] = true
	}
	for line := range all {
		for at := strings.IndexByte(line[1:], '.') + 1; at > 0; {
			if all[line[at:]] {
				t.Fatalf("%q is below %q", line, line[at:])
			}
			next := strings.IndexByte(line[at+1:], '.')
			if next < 0 {
				break
			}
			at += next + 1
		}
	}
}

func TestLoginRows(t *testing.T) {
	same, each := row{form: forward, with: logins}, row{form: forward, with: logins, users: true}
	at := place{Origin: "127.0.0.1:1"}
	for _, tt := range []struct {
		row  row
		want string
		same bool
	}{
		{same, "Basic dXNlcjA6c2VjcmV0MA==\r\n", true},
		{each, "Basic dXNlcjE6c2VjcmV0MQ==\r\n", false},
	} {
		next := requests(at, tt.row)
		request, other := next(0), next(1)
		if !strings.Contains(string(request), tt.want) || bytes.Equal(request, other) != tt.same ||
			!strings.Contains(string(request), "http://"+wantedHost+"/") {
			t.Errorf("%+v: %q, then %q", tt.row, request, other)
		}
	}
}
