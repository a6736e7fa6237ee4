//go:build linux

package main

import (
	"testing"
	"time"
)

func TestMedianCell(t *testing.T) {
	turns := []cell{
		{measured: true, rate: 3, cpu: 30},
		{note: "failed: reset"},
		{measured: true, rate: 1, cpu: 10},
		{measured: true, rate: 2, cpu: 900},
	}
	got := medianCell(turns)
	if !got.measured || got.rate != 2 || got.cpu != 30 || got.note != "failed: reset" || len(got.turns) != len(turns) {
		t.Errorf("medianCell = %+v", got)
	}
	if got := medianCell(turns[1:2]); got.measured {
		t.Errorf("medianCell of a failure = %+v", got)
	}
}

func TestRatios(t *testing.T) {
	for _, tt := range []struct {
		c, other []time.Duration
		want     string
	}{
		{nil, nil, "-"},
		{[]time.Duration{10}, []time.Duration{0}, "-"},
		{[]time.Duration{10, 0, 30, 20, 50, 40}, []time.Duration{10, 10, 10, 10, 10, 10}, "3.00 (2.00 to 4.00)"},
	} {
		if got := formatRatios(ratios(cell{turns: tt.c}, cell{turns: tt.other})); got != tt.want {
			t.Errorf("ratios of %v and %v = %s, want %s", tt.c, tt.other, got, tt.want)
		}
	}
}
