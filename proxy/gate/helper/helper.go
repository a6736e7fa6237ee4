// Package helper runs programs that speak the protocols of Squid's helpers, and asks them who a client is: Basic, Negotiate and external
// ACLs, as squid.conf.documented of Squid 5.7 (auth_param, external_acl_type) and its wiki (Features/AddonHelpers) describe them. Such a
// program reads a question a line from its standard input, and writes an answer a line. internal/squid is the other side.
package helper

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"
)

// MaxLine is the size of the longest line in bytes, with its end: that of a question, and that of an answer. Squid has as much for the
// tokens of Negotiate.
const MaxLine = 64 << 10

// Errors of questions. Whoever is not let in without an answer gets one that wraps ErrUnavailable: this is no "no", and is for the log.
var (
	ErrUnavailable = errors.New("the helper program gives no answer")
	ErrBusy        = fmt.Errorf("%w: too many questions wait for it", ErrUnavailable)
	ErrTimeout     = fmt.Errorf("%w: the time limit of a question is over", ErrUnavailable)
	ErrEnded       = fmt.Errorf("%w: its process has ended", ErrUnavailable)
	ErrBroken      = fmt.Errorf("%w: it is broken", ErrUnavailable) // an answer BH, or none of the protocol
	ErrClosed      = fmt.Errorf("%w: it is closed", ErrUnavailable)
)

// ambiguous is an answer BH whose message means nothing.
type ambiguous struct{ message string }

func (a *ambiguous) Error() string { return fmt.Sprintf("%v: %q", ErrBroken, a.message) }
func (*ambiguous) Unwrap() error   { return ErrBroken }

// errSuccess is what basic_ldap_auth of Squid 5.7 answers to wrong passwords, unknown users and without its server, unless its option -P is
// set: the text of an error that it has lost.
var errSuccess = &ambiguous{"Success"}

// ErrLine is the error of a question that is no line: it is too long, or has a control character.
var ErrLine = errors.New("the question is no line of a helper program")

// Config is what a Pool runs, and within which bounds. Name, Command, Log and Now must be set.
type Config struct {
	// Name names the helper in the log and in errors.
	Name string
	// Command is the path of the program and its arguments; no shell reads it.
	Command []string
	// Processes is how many run at most; 0 is 5. They are started as questions need them.
	Processes int
	// Concurrency is how many questions a process has at a time, told apart by channel-IDs; 0 is one, without a channel-ID, which is
	// another protocol.
	Concurrency int
	// Backlog is how many questions wait where all processes are busy; 0 is twice as many as Processes.
	Backlog int
	// Timeout is how long a question waits for a process, and then for its answer; 0 is 10 seconds.
	Timeout time.Duration
	// Reservation is how long a process waits for the next message of a client in a conversation (see Negotiate); 0 is 15 seconds.
	Reservation time.Duration
	// Restart is how long no process is started after too many of them have died in a short time, without an answer; each time that
	// this goes on it is twice as long, up to 5 minutes. 0 is 5 seconds.
	Restart time.Duration
	// Log gets what the program writes to its standard error, and how its processes end. No question is logged, and no answer.
	Log *slog.Logger
	// Now is the clock.
	Now func() time.Time
}

// Bounds of deaths: so many processes (or Config.Processes, if that is more) that die within deathWindow without an answer are too many.
const (
	minDeaths   = 3
	deathWindow = 30 * time.Second
	maxRestart  = 5 * time.Minute
)

// closeGrace is how long a process may live on once its standard input has ended.
const closeGrace = time.Second

func (c Config) withDefaults() Config {
	c.Processes = cmp.Or(max(c.Processes, 0), 5)
	c.Concurrency = max(c.Concurrency, 0)
	c.Backlog = cmp.Or(max(c.Backlog, 0), 2*c.Processes)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.Reservation = cmp.Or(c.Reservation, 15*time.Second)
	c.Restart = cmp.Or(c.Restart, 5*time.Second)
	return c
}

// channels returns how many questions a process has at a time.
func (c Config) channels() int { return max(c.Concurrency, 1) }

// Pool runs the processes of one program. It is safe for concurrent use.
type Pool struct {
	config  Config
	lines   *lineLog
	running sync.WaitGroup // a goroutine for each process

	mu        sync.Mutex
	closed    bool
	processes []*process // those that get questions
	starting  int
	queue     []*question // in the order in which they came
	deaths    []time.Time // within deathWindow, without an answer
	outage    outage
	counts    Status
}

// New returns a pool, which starts nothing before the first question. The caller must close it.
func New(config Config) (*Pool, error) {
	program := ""
	if len(config.Command) > 0 {
		program = config.Command[0] // not the arguments, which may have passwords
	}
	if !filepath.IsAbs(program) {
		return nil, fmt.Errorf("the program of the helper %s is %q: write its whole path, and each argument apart", config.Name, program)
	}
	return &Pool{config: config.withDefaults(), lines: newLineLog(config)}, nil
}

// Status is what a pool does, and has done.
type Status struct {
	Processes int // that run
	Waiting   int // questions that wait for a process
	UnderWay  int // questions that wait for their answer
	// Asked counts questions, Failed those without an answer, of which TimedOut by time, and Restarts the processes that ended.
	Asked, Failed, TimedOut, Restarts uint64
}

// Status returns the current values.
func (p *Pool) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.counts
	s.Processes, s.Waiting = len(p.processes), len(p.queue)
	for _, one := range p.processes {
		s.UnderWay += one.busy()
	}
	return s
}

// Faults returns, in sentences, why the helper cannot be asked: nothing where it can.
func (p *Pool) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outage.empty() {
		return nil
	}
	return []string{p.outageText()}
}

// Close ends the processes, which are killed where they do not end by the end of their input, and waits for them. Questions under way fail.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.failQueue(ErrClosed)
	for _, one := range p.processes {
		p.failAll(one, ErrClosed)
		_ = one.stdin.Close() // it is closed already where the process ends
	}
	p.mu.Unlock()
	ended := make(chan struct{})
	go func() { defer close(ended); p.running.Wait() }()
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case <-ended:
		return
	case <-timer.C:
	}
	p.mu.Lock()
	for _, one := range p.processes {
		one.kill()
	}
	p.mu.Unlock()
	<-ended
}
