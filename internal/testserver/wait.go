package testserver

import (
	"testing"
	"time"
)

// Patience is how long a test waits for what must happen: it is long, for slow machines.
const Patience = 20 * time.Second

// Wait polls until a condition holds, and fails the test if it never does; what says in
// words which condition that is.
func Wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick, late := time.NewTicker(time.Millisecond), time.After(Patience)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("never: %s", what)
		}
	}
}

// Within fails the test where something does not end.
func Within(t testing.TB, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(Patience):
		t.Fatalf("%s does not end", what)
	}
}
