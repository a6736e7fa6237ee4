package helper_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/gate/helper"
)

// clock is real time plus an offset set by tests.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }
func executable(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(testserver.OpenFolder(t), "helper")
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// A program that dies repeatedly is not restarted all the time: the helper is reported as failing until it answers.
func TestOutage(t *testing.T) {
	working := filepath.Join(t.TempDir(), "working")
	var c clock
	program := executable(t,
		"#!/bin/sh\nif [ -e "+working+
			" ]; then while read -r x; do echo OK user=a; done; fi\necho the server is gone >&2\nexit 7\n")
	pool, log := open(t, helper.Config{Processes: 2, Restart: time.Minute, Now: c.now, Command: []string{program}})
	for range 3 {
		fails(t, pool, "a", helper.ErrUnavailable)
	}
	testserver.Wait(t, "it is a fault", func() bool { return len(pool.Failures()) == 1 })
	testserver.Wait(t, "its reason is known",
		func() bool { return strings.Contains(pool.Failures()[0], "the server is gone") })
	if text := pool.Failures()[0]; !strings.Contains(text, program) || !strings.Contains(text, "exit status 7") {
		t.Errorf("the fault: %s", text)
	}
	before := pool.Status()
	for range 10 {
		fails(t, pool, "a", helper.ErrUnavailable)
	}
	if after := pool.Status(); after.Restarts != before.Restarts || after.Processes != 0 {
		t.Errorf("meanwhile: %+v, before %+v", after, before)
	}
	c.advance(time.Minute) // the trial fails, and the next pause is twice as long
	fails(t, pool, "a", helper.ErrUnavailable)
	testserver.Wait(t, "its time is counted from its end",
		func() bool { return pool.Status().Restarts == before.Restarts+1 })
	c.advance(time.Minute)
	if err := os.WriteFile(working, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fails(t, pool, "a", helper.ErrUnavailable)
	if after := pool.Status(); after.Restarts != before.Restarts+1 {
		t.Errorf("after one trial: %+v, before %+v", after, before)
	}
	c.advance(time.Minute)
	if got := user(t, pool, "a"); got != "a" || len(pool.Failures()) != 0 {
		t.Errorf("it works again: %q, faults %q", got, pool.Failures())
	}
	if text := log.String(); strings.Count(text, "level=ERROR") != 2 || !strings.Contains(text, "helper recovered") {
		t.Errorf("the log: %s", text)
	}
}

func TestMissingProgram(t *testing.T) {
	pool, _ := open(t, helper.Config{Processes: 5, Command: []string{"/nowhere/helper"}})
	for range 6 {
		_, err := pool.Query(t.Context(), "a")
		if !errors.Is(err, helper.ErrUnavailable) || !strings.Contains(err.Error(), "/nowhere/helper: no such file") {
			t.Errorf("%v", err)
		}
	}
	if len(pool.Failures()) != 1 {
		t.Errorf("faults: %q", pool.Failures())
	}
}

// Processes are started on demand, up to the limit.
func TestProcesses(t *testing.T) {
	pool, _ := start(t, helper.Config{Processes: 2})
	for range 5 {
		user(t, pool, "a")
	}
	if got := pool.Status().Processes; got != 1 {
		t.Errorf("%d processes for one question at a time", got)
	}
	var asking sync.WaitGroup
	var opens []func()
	for range 3 {
		path, open := pipe(t)
		opens = append(opens, open)
		asking.Go(func() { user(t, pool, "wait "+path) })
	}
	testserver.Wait(t, "all are started",
		func() bool { s := pool.Status(); return s.Processes == 2 && s.InFlight == 2 && s.Waiting == 1 })
	for _, open := range opens {
		asking.Go(open)
	}
	asking.Wait()
}
