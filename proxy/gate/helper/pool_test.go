package helper_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/gate/helper"
)

// short is the timeout of questions that are expected to exceed it.
const short = 100 * time.Millisecond

// user asks, and returns the user of the answer.
func user(t *testing.T, pool *helper.Pool, line string) string {
	t.Helper()
	a, err := pool.Query(t.Context(), line)
	if err != nil {
		t.Errorf("%q: %v", line, err)
	}
	return a.User()
}

// fails asks a question that fails.
func fails(t *testing.T, pool *helper.Pool, line string, want error) {
	t.Helper()
	a, err := pool.Query(t.Context(), line)
	if !errors.Is(err, want) || !errors.Is(err, helper.ErrUnavailable) {
		t.Errorf("%q: %+v, %v, want %v", line, a, err, want)
	}
}

// eventually asks until there is an answer: a slow machine may exceed the timeout of a test, and use more
// than one process.
func eventually(t *testing.T, pool *helper.Pool, line string) {
	t.Helper()
	testserver.Wait(t, line+" is answered", func() bool {
		a, err := pool.Query(t.Context(), line)
		if err == nil && a.User() != line || err != nil && !errors.Is(err, helper.ErrUnavailable) {
			t.Errorf("%q: %+v, %v", line, a, err)
		}
		return err == nil
	})
}

// each runs a test with and without channel-IDs.
func each(t *testing.T, test func(t *testing.T, config helper.Config)) {
	t.Helper()
	t.Run("alone", func(t *testing.T) { test(t, helper.Config{Processes: 2}) })
	t.Run("ids", func(t *testing.T) { test(t, helper.Config{Processes: 2, Concurrency: 4}) })
}

func TestAsk(t *testing.T) {
	each(t, func(t *testing.T, config helper.Config) {
		config.Backlog = 100
		pool, _ := start(t, config)
		if s := pool.Status(); s != (helper.Status{}) {
			t.Errorf("before the first question: %+v", s)
		}
		var asking sync.WaitGroup
		for i := range 50 {
			asking.Go(func() {
				if got, want := user(t, pool, fmt.Sprintf("u%d", i)), fmt.Sprintf("u%d", i); got != want {
					t.Errorf("%s is answered for %s", want, got)
				}
			})
		}
		asking.Wait()
		if got := user(t, pool, "slowly"); got != "slowly" {
			t.Errorf("an answer in pieces: %q", got)
		}
		if s := pool.Status(); s.Queries != 51 || s.Failed != 0 || s.Waiting != 0 || s.InFlight != 0 ||
			s.Processes < 1 || s.Processes > 2 || s.Restarts != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A misbehaving program affects only the current question.
func TestMisbehaving(t *testing.T) {
	each(t, func(t *testing.T, config helper.Config) {
		for _, tt := range []struct {
			line string
			want error
		}{
			{"die", helper.ErrExited},
			{"half", helper.ErrExited},
			{"long", helper.ErrExited},
			{"say BH message=down", helper.ErrBroken},
			{"say garbage", helper.ErrBroken},
			{"say", helper.ErrBroken},
		} {
			t.Run(tt.line, func(t *testing.T) {
				pool, _ := start(t, config)
				for range 5 {
					if got := user(t, pool, "good"); got != "good" {
						t.Errorf("before: %q", got)
					}
					fails(t, pool, tt.line, tt.want)
				}
				if failures := pool.Failures(); len(failures) > 0 {
					t.Errorf("faults: %q", failures)
				}
			})
		}
	})
}

// A second answer is not taken for that of the next question.
func TestTwice(t *testing.T) {
	each(t, func(t *testing.T, config helper.Config) {
		config.Processes = 1
		pool, _ := start(t, config)
		for range 3 {
			if got := user(t, pool, "twice"); got != "first" {
				t.Errorf("%q", got)
			}
			if got := user(t, pool, "next"); got != "next" {
				t.Errorf("the next question: %q", got)
			}
		}
	})
}

// A program that writes unrequested output is replaced.
func TestFlood(t *testing.T) {
	pool, _ := start(t, helper.Config{Processes: 1, Concurrency: 2})
	if got := user(t, pool, "a"); got != "a" {
		t.Errorf("%q", got)
	}
	fails(t, pool, "flood", helper.ErrExited)
	if got := user(t, pool, "b"); got != "b" {
		t.Errorf("%q", got)
	}
}

func TestOutOfOrder(t *testing.T) {
	pool, _ := start(t, helper.Config{Processes: 1, Concurrency: 2})
	held := make(chan string)
	go func() { held <- user(t, pool, "hold") }()
	testserver.Wait(t, "the first question is under way", func() bool { return pool.Status().InFlight == 1 })
	testserver.Wait(t, "the answer is held",
		func() bool { return user(t, pool, "next") == "next" && len(held) == 0 && pool.Status().InFlight == 0 })
	if got := <-held; got != "held" {
		t.Errorf("%q", got)
	}
}

// Answers with an unknown channel-ID are dropped; the question itself times out.
func TestUnknownChannel(t *testing.T) {
	pool, log := start(t, helper.Config{Processes: 1, Concurrency: 8, Timeout: short, Restart: time.Millisecond})
	for _, line := range []string{"raw 7 OK user=lie", "raw 8 OK user=lie", "raw x OK user=lie", "raw -1 OK", "raw "} {
		eventually(t, pool, "good")
		fails(t, pool, line, helper.ErrUnavailable)
		eventually(t, pool, "good")
	}
	if !strings.Contains(log.String(), "unexpected helper response") {
		t.Errorf("the log: %s", log)
	}
}

func TestHang(t *testing.T) {
	each(t, func(t *testing.T, config helper.Config) {
		config.Processes, config.Timeout, config.Restart = 1, short, time.Millisecond
		pool, _ := start(t, config)
		// Some fail on a slow machine.
		testserver.Wait(t, "a question has timed out, and a process is another one", func() bool {
			eventually(t, pool, "good")
			fails(t, pool, "hang", helper.ErrUnavailable)
			s := pool.Status()
			return s.TimedOut > 0 && s.Restarts > 0
		})
	})
}

// A late answer is not taken for that of another question, and its channel is reused.
func TestLate(t *testing.T) {
	pool, _ := start(t, helper.Config{Processes: 1, Concurrency: 2, Timeout: short, Restart: time.Millisecond})
	for range 3 {
		path, open := pipe(t)
		eventually(t, pool, "good")
		fails(t, pool, "wait "+path, helper.ErrUnavailable)
		eventually(t, pool, "good")
		if pool.Status().InFlight == 1 { // it is still running, unless the machine was too slow for all
			open()
			testserver.Wait(t, "the late answer has come", func() bool { return pool.Status().InFlight == 0 })
		}
		eventually(t, pool, "good")
	}
}

// pipe returns a named pipe, and a function that unblocks the program that reads it.
func pipe(t *testing.T) (path string, open func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pipe")
	if err := mkfifo(path); err != nil {
		t.Fatal(err)
	}
	return path, func() { release(t, path) }
}

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// release unblocks one reader of a named pipe.
func release(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("go\n"), 0o600); err != nil {
		t.Error(err)
	}
}

// The end of a context ends its question only, whose late answer is dropped.
func TestContext(t *testing.T) {
	each(t, func(t *testing.T, config helper.Config) {
		config.Processes = 1
		pool, _ := start(t, config)
		path, open := pipe(t)
		gone := errors.New("the client has left")
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error)
		go func() {
			_, err := pool.Query(ctx, "wait "+path)
			ended <- err
		}()
		testserver.Wait(t, "it is under way", func() bool { return pool.Status().InFlight == 1 })
		cancel(gone)
		if err := <-ended; !errors.Is(err, gone) || errors.Is(err, helper.ErrUnavailable) {
			t.Errorf("%v", err)
		}
		if _, err := pool.Query(ctx, "a"); !errors.Is(err, gone) {
			t.Errorf("a context that has ended before: %v", err)
		}
		open()
		for range 10 {
			if got := user(t, pool, "good"); got != "good" {
				t.Errorf("afterwards: %q", got)
			}
		}
		if s := pool.Status(); s.Restarts != 0 || s.InFlight != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestBacklog(t *testing.T) {
	pool, _ := start(t, helper.Config{Processes: 1, Backlog: 2})
	path, open := pipe(t)
	answers := make(chan string, 3)
	var asking sync.WaitGroup
	asking.Go(func() { answers <- user(t, pool, "wait "+path) })
	testserver.Wait(t, "it is under way", func() bool { return pool.Status().InFlight == 1 })
	for range 2 {
		asking.Go(func() { answers <- user(t, pool, "queued") })
	}
	testserver.Wait(t, "two wait", func() bool { return pool.Status().Waiting == 2 })
	fails(t, pool, "one more", helper.ErrBusy)
	open()
	asking.Wait()
	if len(answers) != 3 {
		t.Errorf("%d answers", len(answers))
	}
}

// After a reload, all clients are asked about at the same moment: by default they wait as long as each may.
func TestManyClients(t *testing.T) {
	const many = 200
	pool, _ := start(t, helper.Config{Processes: 1, Timeout: time.Minute})
	path, open := pipe(t)
	answers := make(chan string, many+1)
	var asking sync.WaitGroup
	asking.Go(func() { answers <- user(t, pool, "wait "+path) })
	testserver.Wait(t, "it is under way", func() bool { return pool.Status().InFlight == 1 })
	for i := range many {
		asking.Go(func() { answers <- user(t, pool, fmt.Sprintf("u%d", i)) })
	}
	testserver.Wait(t, "all wait, or have failed", func() bool {
		s := pool.Status()
		return s.Waiting+int(s.Failed) == many
	})
	open()
	asking.Wait()
	if s := pool.Status(); s.Failed != 0 || len(answers) != many+1 {
		t.Errorf("%+v, %d answers", s, len(answers))
	}
}

// Waiting for a process times out, too, and does not end the process of another question.
func TestBacklogTimeout(t *testing.T) {
	pool, _ := start(t, helper.Config{Processes: 1, Timeout: short})
	go func() { _, _ = pool.Query(t.Context(), "hang") }()
	testserver.Wait(t, "it is under way", func() bool { return pool.Status().InFlight == 1 })
	a, err := pool.Query(t.Context(), "queued")
	// The process may have been replaced before.
	if err != nil && !errors.Is(err, helper.ErrUnavailable) || err == nil && a.User() != "queued" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestLines(t *testing.T) {
	pool, _ := start(t, helper.Config{Processes: 1})
	for _, line := range []string{"a\nb", "a\rb", "a\x00b", strings.Repeat("a", helper.MaxLine)} {
		if _, err := pool.Query(t.Context(), line); !errors.Is(err, helper.ErrLine) {
			t.Errorf("a line of %d bytes: %v", len(line), err)
		}
	}
	long := strings.Repeat("a", helper.MaxLine/2)
	if got := user(t, pool, long); got != long {
		t.Errorf("a long answer has %d bytes", len(got))
	}
}

func TestCommand(t *testing.T) {
	for _, command := range [][]string{nil, {""}, {"sh", "-c", "secret"}} {
		_, err := helper.New(helper.Config{Name: "a", Command: command})
		if err == nil || !strings.Contains(err.Error(), "absolute path") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", command, err)
		}
	}
}

// A program inherits no secrets of the environment, and no descriptors.
func TestWorld(t *testing.T) {
	t.Setenv("SECRET", "a")
	t.Setenv("LANG", "C.UTF-8")
	var inherited [2]int // descriptors without close-on-exec
	if err := syscall.Pipe(inherited[:]); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = syscall.Close(inherited[0]), syscall.Close(inherited[1]) }()
	pool, _ := start(t, helper.Config{Processes: 1})
	a, err := pool.Query(t.Context(), "world")
	if err != nil || a.Value("dir") != "/" || a.Value("environment") != "2" {
		t.Errorf("%+v, %v", a, err)
	}
	shell, _ := open(t, helper.Config{Processes: 1, Command: []string{
		testserver.Need(t, "sh"), "-c",
		`while read -r fd; do if [ -e "/proc/$$/fd/$fd" ]; then echo OK; else echo ERR; fi; done`,
	}})
	for fd, want := range map[int]helper.Result{
		0: helper.OK, 1: helper.OK, 2: helper.OK, inherited[0]: helper.ERR,
		inherited[1]: helper.ERR,
	} {
		if a, err := shell.Query(t.Context(), strconv.Itoa(fd)); err != nil || a.Result != want {
			t.Errorf("descriptor %d: %+v, %v", fd, a, err)
		}
	}
}

// Standard error is logged within a limit, and does not block the program.
func TestComplaints(t *testing.T) {
	pool, log := start(t, helper.Config{Processes: 1})
	const complaints = 1000
	if _, err := pool.Query(t.Context(), fmt.Sprintf("complain %d", complaints)); err != nil {
		t.Error(err)
	}
	testserver.Wait(t, "something is logged", func() bool { return strings.Contains(log.String(), "complaint 0") })
	pool.Close()
	text := log.String()
	if n := strings.Count(text, "\n"); n > complaints/2 || len(text) > complaints*1024 {
		t.Errorf("%d lines with %d bytes", n, len(text))
	}
}

// Processes started by a program are killed, too.
func TestGrandchild(t *testing.T) {
	pool, _ := start(t, helper.Config{Processes: 1})
	pid := user(t, pool, "child")
	fails(t, pool, "die", helper.ErrExited)
	testserver.Wait(t, "the child is dead", func() bool {
		state, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || strings.Contains(string(state), ") Z ")
	})
}

// A process that has left the group of a program, and holds its pipes, does not block questions. It is not
// killed: programs may start services this way.
func TestEscaped(t *testing.T) {
	testserver.Need(t, "setsid")
	pool, _ := open(t, helper.Config{Processes: 1, Command: []string{
		testserver.Need(t, "sh"), "-c", `read -r x; setsid sleep 1000 & echo "OK user=$!"; read -r x`,
	}})
	pid, err := strconv.Atoi(user(t, pool, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Errorf("it was killed already: %v", err)
		}
	}()
	fails(t, pool, "b", helper.ErrExited)
	testserver.Within(t, "Close", pool.Close)
}

// A program that does not read blocks no question beyond its timeout.
func TestDeaf(t *testing.T) {
	pool, _ := open(t, helper.Config{
		Processes: 1, Concurrency: 4, Timeout: short, Restart: time.Millisecond,
		Command: []string{testserver.Need(t, "sleep"), "1000"},
	})
	long := strings.Repeat("a", helper.MaxLine-20)
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() { fails(t, pool, long, helper.ErrUnavailable) })
	}
	asking.Wait()
	fails(t, pool, long, helper.ErrUnavailable)
	testserver.Within(t, "Close", pool.Close)
}

func TestClose(t *testing.T) {
	each(t, func(t *testing.T, config helper.Config) {
		pool, _ := start(t, config)
		ended := make(chan error)
		go func() {
			_, err := pool.Query(t.Context(), "hang")
			ended <- err
		}()
		testserver.Wait(t, "it is under way", func() bool { return pool.Status().InFlight == 1 })
		testserver.Within(t, "Close", pool.Close)
		if err := <-ended; !errors.Is(err, helper.ErrClosed) {
			t.Errorf("%v", err)
		}
		fails(t, pool, "a", helper.ErrClosed)
	})
}
