//go:build linux

package main

import "testing"

// TestParseStatm parses the format of proc_pid_statm(5).
func TestParseStatm(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"2299116 5470 900 1 0 7 0\n", 5470, true},
		{"1 x", 0, false},
		{"1", 0, false},
	} {
		if got, err := parseStatm([]byte(c.text)); got != c.want || (err == nil) != c.ok {
			t.Errorf("%q: %d, %v", c.text, got, err)
		}
	}
}
