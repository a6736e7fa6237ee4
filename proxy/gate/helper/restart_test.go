package helper_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/gate/helper"
)

// clock is real time that tests move.
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

// A program that dies again and again is not started all the time: this is a fault until it answers.
func TestOutage(t *testing.T) {
	working := filepath.Join(t.TempDir(), "working")
	var c clock
	program := executable(t, "#!/bin/sh\nif [ -e "+working+" ]; then while read -r x; do echo OK user=a; done; fi\necho the server is gone >&2\nexit 7\n")
	pool, log := open(t, helper.Config{Processes: 2, Restart: time.Minute, Now: c.now, Command: []string{program}})
	for range 3 {
		fails(t, pool, "a", helper.ErrUnavailable)
	}
	testserver.Wait(t, "it is a fault", func() bool { return len(pool.Faults()) == 1 })
	testserver.Wait(t, "its reason is known", func() bool { return strings.Contains(pool.Faults()[0], "the server is gone") })
	if text := pool.Faults()[0]; !strings.Contains(text, program) || !strings.Contains(text, "exit status 7") {
		t.Errorf("the fault: %s", text)
	}
	before := pool.Status()
	for range 10 {
		fails(t, pool, "a", helper.ErrUnavailable)
	}
	if after := pool.Status(); after.Restarts != before.Restarts || after.Processes != 0 {
		t.Errorf("meanwhile: %+v, before %+v", after, before)
	}
	c.advance(time.Minute) // and the trial fails: the next time is twice as long
	fails(t, pool, "a", helper.ErrUnavailable)
	c.advance(time.Minute)
	if err := os.WriteFile(working, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fails(t, pool, "a", helper.ErrUnavailable)
	if after := pool.Status(); after.Restarts != before.Restarts+1 {
		t.Errorf("after one trial: %+v, before %+v", after, before)
	}
	c.advance(time.Minute)
	if got := user(t, pool, "a"); got != "a" || len(pool.Faults()) != 0 {
		t.Errorf("it works again: %q, faults %q", got, pool.Faults())
	}
	if text := log.String(); strings.Count(text, "level=ERROR") != 2 || !strings.Contains(text, "answers again") {
		t.Errorf("the log: %s", text)
	}
}

func TestMissingProgram(t *testing.T) {
	pool, _ := open(t, helper.Config{Processes: 5, Startup: 5, Command: []string{"/nowhere/helper"}})
	for range 6 {
		_, err := pool.Ask(t.Context(), "a")
		if !errors.Is(err, helper.ErrUnavailable) || !strings.Contains(err.Error(), "/nowhere/helper: no such file") {
			t.Errorf("%v", err)
		}
	}
	if len(pool.Faults()) != 1 {
		t.Errorf("faults: %q", pool.Faults())
	}
}

// Processes are started as Squid's startup= and idle= say, and no more than there may be.
func TestProcesses(t *testing.T) {
	for name, tt := range map[string]struct {
		config helper.Config
		want   int
	}{
		"lazily":       {helper.Config{Processes: 4}, 1},
		"startup":      {helper.Config{Processes: 4, Startup: 3}, 3},
		"idle":         {helper.Config{Processes: 4, Idle: 2}, 2}, // one of them is free again after its answer
		"more than is": {helper.Config{Processes: 2, Startup: 8, Idle: 8}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			pool, _ := start(t, tt.config)
			user(t, pool, "a")
			testserver.Wait(t, "all are started", func() bool { return pool.Status().Processes >= tt.want })
			for range 5 {
				user(t, pool, "a")
			}
			if got := pool.Status().Processes; got < tt.want || got > min(tt.want+1, tt.config.Processes) {
				t.Errorf("%d processes, want %d", got, tt.want)
			}
		})
	}
}
