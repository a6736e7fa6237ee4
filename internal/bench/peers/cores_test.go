//go:build linux

package main

import (
	"testing"
	"time"
)

// TestParseCore parses the format of proc_stat(5).
func TestParseCore(t *testing.T) {
	const stat = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 1 1 1 1 1 1 1 0 0\ncpu1 1 2 3 40 5 6 7 8 100 100\nintr 5\n"
	for _, c := range []struct {
		text string
		core int
		want coreTime
		ok   bool
	}{
		{stat, 1, coreTime{720 * time.Millisecond, 450 * time.Millisecond}, true},
		{stat, 0, coreTime{80 * time.Millisecond, 20 * time.Millisecond}, true},
		{stat, 2, coreTime{}, false},
		{"cpu1 1 2 3 x 5 6 7 8\n", 1, coreTime{}, false},
		{"cpu1 1 2\n", 1, coreTime{}, false},
		{"", 0, coreTime{}, false},
	} {
		got, err := parseCore([]byte(c.text), c.core)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%q, core %d: %+v, %v", c.text, c.core, got, err)
		}
	}
}

func FuzzParseCore(f *testing.F) {
	f.Add([]byte("cpu1 1 2 3 40 5 6 7 8 100 100\n"))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = parseCore(text, 1) })
}

func TestCores(t *testing.T) {
	const stat = "cpu0 1 1 1 1 1 1 1 1\ncpu1 1 2 3 40 5 6 7 8\n"
	for _, c := range []struct {
		cores cores
		list  string
		want  coreTime
		ok    bool
	}{
		{cores{1, 1}, "1-1", coreTime{720 * time.Millisecond, 450 * time.Millisecond}, true},
		{cores{0, 1}, "0-1", coreTime{800 * time.Millisecond, 470 * time.Millisecond}, true},
		{cores{1, 2}, "1-2", coreTime{}, false},
	} {
		got, err := c.cores.parse([]byte(stat))
		if got != c.want || (err == nil) != c.ok || c.cores.String() != c.list {
			t.Errorf("%s: %+v, %v", c.cores, got, err)
		}
	}
	if got, err := chooseCores(10000); err == nil {
		t.Errorf("10000 cores: %s", got)
	}
}
