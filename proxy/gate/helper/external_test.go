package helper_test

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/gate/helper"
)

func external(t *testing.T, config helper.Config, cache helper.CacheConfig) (*helper.External, *helper.Pool) {
	t.Helper()
	pool, _ := open(t, config)
	e, err := helper.NewExternal(pool, cache)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e, pool
}

// repeats is a program that answers with its question.
const repeats = "#!/bin/sh\nwhile IFS= read -r line; do printf '%s\\n' \"OK tag=t log=l user=u text $line\"; done\n"

func TestExternal(t *testing.T) {
	const want = "text alice - a%20b%22%5c c%0ad"
	e, _ := external(t, helper.Config{Processes: 1, Command: []string{executable(t, repeats)}}, helper.CacheConfig{})
	a, err := e.Lookup(t.Context(), "alice", "", `a b"\`, "c\nd")
	if err != nil || a.Result != helper.OK || a.Text != want || a.Value("tag") != "t" || a.Value("log") != "l" ||
		a.User() != "u" {
		t.Errorf("%+v, %v, want %q", a, err, want)
	}
	if _, err := e.Lookup(t.Context(), strings.Repeat("a", 9<<10)); !errors.Is(err, helper.ErrLine) {
		t.Errorf("a long question: %v", err)
	}
}

// A user is looked up in more groups than processes and their queue have room for.
func TestManyGroups(t *testing.T) {
	e, _ := external(t, helper.Config{Processes: 2, Command: []string{executable(t, repeats)}}, helper.CacheConfig{})
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			group := "g" + strconv.Itoa(i)
			if a, err := e.Lookup(t.Context(), "alice", group); err != nil || a.Text != "text alice "+group {
				t.Errorf("%s: %+v, %v", group, a, err)
			}
		})
	}
	all.Wait()
}

// An answer is used for its TTL, or until Forget.
func TestCachedTime(t *testing.T) {
	var c clock
	program := executable(t, "#!/bin/sh\nn=0; while read -r x; do n=$((n+1)); echo \"OK user=$n\"; done\n")
	e, pool := external(t, helper.Config{Processes: 1, Now: c.now, Command: []string{program}},
		helper.CacheConfig{TTL: time.Hour})
	lookup := func(want string) {
		t.Helper()
		if a, err := e.Lookup(t.Context(), "a"); err != nil || a.User() != want {
			t.Errorf("%+v, %v, want %s", a, err, want)
		}
	}
	lookup("1")
	c.advance(40 * time.Minute)
	lookup("1")
	c.advance(40 * time.Minute)
	lookup("2")
	e.Forget()
	lookup("3")
	lookup("3")
	if got := pool.Status().Queries; got != 3 {
		t.Errorf("%d questions", got)
	}
}

// A cached answer costs few allocations.
func TestCachedAllocations(t *testing.T) {
	e, _ := external(t, helper.Config{Processes: 1, Command: []string{executable(t, repeats)}},
		helper.CacheConfig{TTL: time.Hour})
	b, _, _ := basic(t, helper.Config{Processes: 1}, helper.CacheConfig{TTL: time.Hour})
	for name, tt := range map[string]struct {
		most float64
		ask  func() (helper.Answer, error)
	}{
		"external": {8, func() (helper.Answer, error) { return e.Lookup(t.Context(), "alice", "staff") }},
		"basic":    {8, func() (helper.Answer, error) { return b.Check(t.Context(), alice, "alice", "rät sel") }},
	} {
		allocations := testing.AllocsPerRun(100, func() {
			if a, err := tt.ask(); err != nil || a.Result != helper.OK {
				t.Errorf("%s: %+v, %v", name, a, err)
			}
		})
		if allocations > tt.most {
			t.Errorf("%s: %v allocations, want at most %v", name, allocations, tt.most)
		}
	}
}
