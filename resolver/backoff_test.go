package resolver_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

var errRefused = errors.New("connection refused")

// silent is a probe of a server that does not answer.
func silent() bool { return false }

func TestBackoff(t *testing.T) {
	if got := (*resolver.Backoff)(nil).Avoided(9); got != nil {
		t.Errorf("%+v", got)
	}
	now := time.Unix(1000, 0)
	b := resolver.NewBackoff(5*time.Second, func() time.Time { return now })
	if err := b.Err("a"); err != nil {
		t.Errorf("an unknown server: %v", err)
	}
	b.Unreachable("a", errRefused)
	if err := b.Err("a"); !errors.Is(err, errRefused) || !strings.HasPrefix(err.Error(), "not asked again for 5s: ") {
		t.Errorf("after a failure: %v", err)
	}
	if err := b.Err("b"); err != nil {
		t.Errorf("another server: %v", err)
	}
	if got := b.Avoided(9); len(got) != 1 || got[0] != (resolver.Avoided{Server: "a", Why: errRefused.Error(), Until: now.Add(5 * time.Second)}) {
		t.Errorf("it avoids %+v", got)
	}
	if got := b.Avoided(0); got != nil {
		t.Errorf("more than asked for: %+v", got)
	}
	now = now.Add(5 * time.Second)
	if got := b.Avoided(9); got != nil {
		t.Errorf("after the period it avoids %+v", got)
	}
	if err := b.Err("a"); err != nil {
		t.Errorf("after the period: %v", err)
	}
	if err := b.Err("a"); err == nil {
		t.Error("a second caller asks a server that has not answered the first one")
	}
	b.Answered("a")
	if err := b.Err("a"); err != nil {
		t.Errorf("after an answer: %v", err)
	}
}

// One slow name does not make a server fail, however often it is asked for, and neither do names
// that are slow while others are answered.
func TestBackoffOfSlowServers(t *testing.T) {
	now := time.Unix(1000, 0)
	b := resolver.NewBackoff(5*time.Second, func() time.Time { return now })
	for range 3 {
		b.Failed("a", "slow", now, errRefused, silent)
	}
	if err := b.Err("a"); err != nil {
		t.Errorf("after timeouts of one name: %v", err)
	}
	sent := now
	now = now.Add(time.Second)
	b.Answered("a")
	b.Failed("a", "one", sent, errRefused, silent)
	b.Failed("a", "two", sent, errRefused, silent)
	if err := b.Err("a"); err != nil {
		t.Errorf("timeouts of requests before an answer: %v", err)
	}
	b.Failed("a", "one", now, errRefused, silent)
	b.Failed("a", "two", now, errRefused, silent)
	if err := b.Err("a"); !errors.Is(err, errRefused) {
		t.Errorf("after timeouts of two names: %v", err)
	}
	b.Failed("b", "one", now, errRefused, silent)
	b.Failed("b", "two", now, errRefused, func() bool {
		b.Failed("b", "three", now, errRefused, func() bool { t.Error("it is asked twice at a time"); return false })
		return true
	})
	if err := b.Err("b"); err != nil {
		t.Errorf("two slow names of a server that answers: %v", err)
	}
	now = now.Add(5 * time.Second)
	if err := b.Err("a"); err != nil {
		t.Errorf("after the period: %v", err)
	}
	b.Release("a") // its caller has left
	if err := b.Err("a"); err != nil {
		t.Errorf("the next caller: %v", err)
	}
}

func TestBackoffIsBounded(t *testing.T) {
	now := time.Unix(1000, 0)
	b := resolver.NewBackoff(time.Second, func() time.Time { return now })
	for i := range 5000 {
		b.Unreachable(strconv.Itoa(i), errRefused)
	}
	if err := b.Err("0"); err == nil {
		t.Error("the first one is forgotten while it is needed")
	}
	if err := b.Err("4999"); err != nil {
		t.Errorf("more than the maximum are remembered: %v", err)
	}
	now = now.Add(time.Minute)
	b.Unreachable("new", errRefused)
	if err := b.Err("new"); err == nil {
		t.Error("there is no room after those before have expired")
	}
	off := resolver.NewBackoff(0, time.Now)
	off.Unreachable("a", errRefused)
	if err := off.Err("a"); err != nil {
		t.Errorf("turned off: %v", err)
	}
}
