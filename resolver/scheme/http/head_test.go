package http

import (
	"strings"
	"testing"
)

// TestLinesOfHead: a head has so many lines at most.
func TestLinesOfHead(t *testing.T) {
	for n, want := range map[int]bool{0: true, 1: true, maxLines: true, maxLines + 1: false, 80_000: false} {
		header, err := parseFields(strings.Repeat("a:\r\n", n), nil)
		if (err == nil) != want || want && n > 0 && len(header.Lines("A")) != n {
			t.Errorf("%d lines: %d, %v", n, len(header.Lines("A")), err)
		}
	}
}
