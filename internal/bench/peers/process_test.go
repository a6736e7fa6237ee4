//go:build linux

package main

import (
	"os"
	"testing"
	"time"
)

// TestParseStat parses the format of proc_pid_stat(5).
func TestParseStat(t *testing.T) {
	const after = " S 7 7 7 0 -1 4194560 1 2 3 4 10 20 3 4 20 0 1 0 12345 1000 200"
	for _, c := range []struct {
		text string
		want process
		ok   bool
	}{
		{"42 (nginx)" + after, process{42, 7, 370 * time.Millisecond, 12345}, true},
		{"42 (a) b ( c)" + after, process{42, 7, 370 * time.Millisecond, 12345}, true},
		{"42 (nginx) S 7", process{}, false},
		{"42 nginx" + after, process{}, false},
		{"x (nginx)" + after, process{}, false},
		{")(", process{}, false},
		{"", process{}, false},
	} {
		got, err := parseStat([]byte(c.text))
		if (err == nil) != c.ok || got != c.want {
			t.Errorf("%q: %+v, %v", c.text, got, err)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (nginx) S 7 7 7 0 -1 4194560 1 2 3 4 10 20 3 4 20 0 1 0 12345 1000 200"))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = parseStat(text) })
}

func TestProcessTree(t *testing.T) {
	tree := processTree(os.Getppid())
	for _, p := range tree {
		if p.pid == os.Getpid() {
			return
		}
	}
	t.Errorf("%d is not below its parent: %+v", os.Getpid(), tree)
}

func TestPreciseCPU(t *testing.T) {
	p := process{pid: os.Getpid(), cpu: -1}
	before := p.preciseCPU()
	for begun := time.Now(); p.preciseCPU() == before; {
		if time.Since(begun) > 10*time.Second {
			t.Fatal("the clock of the process stands still")
		}
	}
	if before <= 0 {
		t.Errorf("CPU time %v", before)
	}
}
