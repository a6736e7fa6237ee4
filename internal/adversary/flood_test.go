package adversary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// floods exceed the resources of a machine: names, bodies, connections, text and work. They may only cost the
// responses of the client that sends them; memory remains bounded.
func floods(s *stage) []payload {
	return slices.Concat(s.slowNames(), s.slowBodies(), s.connections(), s.batches(), s.rules(), s.answersTooLarge(),
		s.guesses(), s.exhausted())
}

// victim is the client that must get a response while another one floods.
const victim = "127.0.0.5"

// alone runs a payload on its own daemon, which must work afterwards.
func (s *stage) alone(p payload, play func(ctx context.Context, d *daemon) error, environment ...string) payload {
	if p.shows == "" {
		p.shows = p.name
	}
	p.play = func(ctx context.Context) error {
		d, err := s.start(ctx, environment...)
		if err != nil {
			return err
		}
		defer d.kill()
		if err := play(ctx, d); err != nil {
			return errors.Join(err, d.crashed())
		}
		return errors.Join(d.takeAlarms(), d.answers(ctx))
	}
	return p
}

// many makes n concurrent calls of a function and waits for them.
func many(n int, call func(i int)) {
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() { call(i) })
	}
	calls.Wait()
}

// tally counts results of requests.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (t *tally) add(outcome string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = make(map[string]int)
	}
	t.counts[outcome]++
}

// sum returns the number of results with a prefix.
func (t *tally) sum(prefix string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for outcome, count := range t.counts {
		if strings.HasPrefix(outcome, prefix) {
			n += count
		}
	}
	return n
}

// note counts the result of a request: its status, with Retry-After if present.
func (t *tally) note(got reply, err error) {
	switch {
	case err != nil:
		t.add("error")
	case got.header.Get("Retry-After") != "":
		t.add(fmt.Sprintf("%d with Retry-After", got.status))
	default:
		t.add(strconv.Itoa(got.status))
	}
}

func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return fmt.Sprint(t.counts)
}

// soon returns an error unless a client gets a status for a target within two seconds.
func soon(ctx context.Context, d *daemon, from, target string, status int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	got, err := ask(ctx, d.service, from, "GET", target, "")
	if err != nil {
		return fmt.Errorf("%s for %s: %w", target, from, err)
	}
	if got.status != status {
		return fmt.Errorf("%s for %s is answered %d: %.200q", target, from, got.status, got.body)
	}
	return nil
}

// processor returns the CPU time of the process (proc(5), stat).
func (d *daemon) processor() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	const tick = 10 * time.Millisecond
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}
