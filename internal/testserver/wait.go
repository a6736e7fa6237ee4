package testserver

import (
	"fmt"
	"testing"
	"time"
)

// Timeout is the time limit for an expected event: it is long, for slow machines.
const Timeout = time.Minute

// errLate is the error if an expected event has not happened in time.
var errLate = fmt.Errorf("timed out after %v", Timeout)

// poll calls done until it returns true or fails. The error is errLate if it does neither in time.
func poll(done func() (bool, error)) error { return pollFor(Timeout, done) }

// pollFor is like poll with another time limit.
func pollFor(waitLimit time.Duration, done func() (bool, error)) error {
	tick, late := time.NewTicker(time.Millisecond), time.NewTimer(waitLimit)
	defer tick.Stop()
	defer late.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-late.C:
			return errLate
		}
	}
}

// Wait polls until a condition holds, and fails the test if it does not hold in time. what describes the
// condition once it holds: "urnd is ready".
func Wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if err := poll(func() (bool, error) { return holds(), nil }); err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}

// Within fails the test if do does not return in time; what is its name, such as "Drain".
func Within(t testing.TB, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(Timeout):
		t.Fatalf("%s does not end", what)
	}
}
