package helper

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a running process of the program. It has five goroutines: serve reads answers, write sends
// questions, watch enforces deadlines, logErrors reads the standard error, and reap waits for its end. All
// have ended when serve returns.
type process struct {
	pool   *Pool
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	lines  chan string   // to be written
	wake   chan struct{} // a deadline was set
	gone   chan struct{} // closed when no more answers can arrive
	tasks  sync.WaitGroup

	ending        sync.Mutex // guards the next three
	reaped        bool       // its process ID may be reused
	reason        error      // why it was killed
	standardError string     // the last line of its standard error

	// Guarded by Pool.mu.
	queries     []*query     // by channel
	free        []int        // channels, least recently used first, so that a duplicate answer hits no question
	reservation *reservation // its reservation
	answers     uint64
	strays      int
}

// maxStrays is how many answers without a question a process may send, if questions have channel-IDs.
const maxStrays = 16

var (
	errStray = errors.New("it sent unexpected responses")
	errLong  = fmt.Errorf("a response exceeds %d bytes", MaxLine)
	errStuck = errors.New("it does not read its requests")
)

// launch starts a process.
func (p *Pool) launch() (one *process, err error) {
	n := p.config.channels()
	one = &process{
		pool: p, lines: make(chan string, 2*n), wake: make(chan struct{}, 1), gone: make(chan struct{}),
		queries: make([]*query, n),
	}
	for channel := range n {
		one.free = append(one.free, channel)
	}
	// Not exec.CommandContext: a process does not belong to a request. The command comes from the configuration.
	one.cmd = &exec.Cmd{Path: p.config.Command[0], Args: p.config.Command, Dir: "/", Env: environment(os.Environ())}
	one.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var pipes [3][2]*os.File
	defer func() {
		for i, pipe := range pipes {
			if pipe[0] == nil {
				continue
			}
			inner := min(i, 1) // the child reads its standard input, and writes the others
			_ = pipe[inner].Close()
			if err != nil {
				_ = pipe[1-inner].Close()
			}
		}
	}()
	for i := range pipes {
		if pipes[i][0], pipes[i][1], err = os.Pipe(); err != nil {
			return nil, err
		}
	}
	one.cmd.Stdin, one.cmd.Stdout, one.cmd.Stderr = pipes[0][0], pipes[1][1], pipes[2][1]
	one.stdin, one.stdout, one.stderr = pipes[0][1], pipes[1][0], pipes[2][0]
	closeOnExec()
	if err := one.cmd.Start(); err != nil {
		return nil, err
	}
	return one, nil
}

// environment returns the environment of a program: the search path and the language, and no secrets.
func environment(all []string) (some []string) {
	for _, variable := range all {
		if name, _, _ := strings.Cut(variable, "="); name == "PATH" || name == "LANG" {
			some = append(some, variable)
		}
	}
	return some
}

// serve reads answers until the process ends or must be stopped, and returns when it has ended.
func (one *process) serve() {
	p := one.pool
	reported := make(chan struct{})
	one.tasks.Go(one.write)
	one.tasks.Go(one.watch)
	one.tasks.Go(one.reap)
	one.tasks.Go(func() { defer close(reported); one.logErrors() })
	err := one.read()

	p.mu.Lock()
	p.remove(one)
	p.mu.Unlock()
	one.stop(err)
	close(one.gone)
	_ = one.stdin.Close() // unblocks a write; fails if the pool has closed it
	_ = one.stdout.Close()
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case <-reported:
	case <-timer.C: // a process outside the group may still hold the pipe
		_ = one.stderr.SetReadDeadline(time.Unix(1, 0)) // fails only if it is closed
	}
	one.tasks.Wait()
	_ = one.stderr.Close()
	p.ended(one)
}

// reap waits for the end of the process, and kills the remaining processes of its group: the ID of the group
// is not reused while it has members, nor shortly after. Answers written before the end are still read.
func (one *process) reap() {
	_ = one.cmd.Wait() // ProcessState has the result
	one.ending.Lock()
	one.reaped = true
	_ = syscall.Kill(-one.cmd.Process.Pid, syscall.SIGKILL) // fails if the group is empty
	one.ending.Unlock()
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case <-one.gone:
	case <-timer.C: // a process outside the group may hold its output
		_ = one.stdout.SetReadDeadline(time.Unix(1, 0)) // fails only if it is closed
	}
}

// read reads answers. It returns why there are no more. A line without newline is not an answer.
func (one *process) read() error {
	reader := bufio.NewReaderSize(one.stdout, MaxLine)
	for {
		line, err := reader.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return errLong
		case errors.Is(err, io.EOF):
			return errors.New("it closed its output")
		case err != nil:
			return fmt.Errorf("reading responses: %w", err)
		}
		text := strings.TrimSuffix(string(line[:len(line)-1]), "\r")
		if err := one.pool.answer(one, text, reader.Buffered() > 0); err != nil {
			return err
		}
	}
}

// write sends lines.
func (one *process) write() {
	for {
		select {
		case line := <-one.lines:
			if _, err := one.stdin.WriteString(line); err != nil {
				one.stop(fmt.Errorf("writing a request: %w", err))
				return
			}
		case <-one.gone:
			return
		}
	}
}

// watch enforces the deadlines of questions and reservations.
func (one *process) watch() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if next, ok := one.pool.expire(one); ok {
			timer.Reset(next)
		} else {
			timer.Stop()
		}
		select {
		case <-one.wake:
		case <-timer.C:
		case <-one.gone:
			return
		}
	}
}

// stop kills the process, and records the reason if it is the first one. It does not wait.
func (one *process) stop(reason error) {
	one.ending.Lock()
	if one.reason == nil {
		one.reason = reason
	}
	one.ending.Unlock()
	one.kill()
}

// kill kills the process with its group, and stops reading its answers, as a process outside the group may
// hold the pipe.
func (one *process) kill() {
	one.ending.Lock()
	defer one.ending.Unlock()
	if !one.reaped {
		_ = syscall.Kill(-one.cmd.Process.Pid, syscall.SIGKILL) // fails only if the group is empty
	}
	_ = one.stdout.SetReadDeadline(time.Unix(1, 0)) // fails only if it is closed
}

// place assigns a question to a channel that was taken; Pool.mu is held.
func (one *process) place(q *query, channel int) {
	one.queries[channel], q.placed = q, true
	q.deadline = one.pool.config.Now().Add(one.pool.config.Timeout)
	line := q.line + "\n"
	if one.pool.config.Concurrency > 0 {
		line = strconv.Itoa(channel) + " " + line
	}
	select {
	case one.lines <- line:
	default: // the process answers without reading, or else no channel would be free
		one.stop(errStuck)
	}
	one.wakeUp()
}

// lift removes the question of a channel; Pool.mu is held.
func (one *process) lift(channel int) *query {
	q := one.queries[channel]
	one.queries[channel], q.placed = nil, false
	return q
}

// take takes the least recently used free channel; Pool.mu is held.
func (one *process) take() int {
	channel := one.free[0]
	one.free = append(one.free[:0], one.free[1:]...)
	return channel
}

// wakeUp makes watch check the deadlines.
func (one *process) wakeUp() {
	select {
	case one.wake <- struct{}{}:
	default: // already signaled
	}
}

// busy returns the number of channels with a question; Pool.mu is held.
func (one *process) busy() (n int) {
	for _, q := range one.queries {
		if q != nil {
			n++
		}
	}
	return n
}
