//go:build linux

package main

import (
	"testing"
	"time"
)

func TestReading(t *testing.T) {
	r := reading{cpu: 600 * time.Millisecond, core: coreTime{total: time.Second, idle: 100 * time.Millisecond}}
	if got := r.others(); got < 0.299 || got > 0.301 {
		t.Errorf("others %v", got)
	}
	if got := r.idle(); got != 0.1 {
		t.Errorf("idle %v", got)
	}
	if got := (reading{}).others() + (reading{}).idle(); got != 0 {
		t.Errorf("nothing was read: %v", got)
	}
}
