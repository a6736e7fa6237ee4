// Package helper runs the external programs of Squid's helper protocols, which authenticate clients and
// evaluate ACLs. Questions enter, with passwords, tokens or values of a request, and Answers leave; a program
// reads one question per line from its standard input, and writes one answer per line. The protocols are
// Basic, Negotiate and external ACLs, as described by squid.conf.documented of Squid 5.7 (auth_param,
// external_acl_type) and its wiki (Features/AddonHelpers). internal/squid implements the other side.
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

// MaxLine is the longest line in bytes, with its newline, of a question and of an answer. Squid has the same
// limit for the tokens of Negotiate.
const MaxLine = 64 << 10

// Errors of questions. A question without an answer has an error that wraps ErrUnavailable: it is not a
// denial, and belongs into the log.
var (
	ErrUnavailable = errors.New("no response from the helper program")
	ErrBusy        = fmt.Errorf("%w: too many requests are queued", ErrUnavailable)
	ErrTimeout     = fmt.Errorf("%w: the request timed out", ErrUnavailable)
	ErrExited      = fmt.Errorf("%w: its process has exited", ErrUnavailable)
	ErrBroken      = fmt.Errorf("%w: it reported an internal error", ErrUnavailable) // an answer BH, or an invalid one
	ErrClosed      = fmt.Errorf("%w: it is stopped", ErrUnavailable)
)

// ambiguous is the error of an answer BH whose message has no meaning.
type ambiguous struct{ message string }

func (a *ambiguous) Error() string { return fmt.Sprintf("%v: %q", ErrBroken, a.message) }
func (*ambiguous) Unwrap() error   { return ErrBroken }

// errSuccess is the answer of basic_ldap_auth of Squid 5.7, unless its option -P is set, to wrong passwords,
// to unknown users and if its server is unreachable: the text of an error code that it has lost.
var errSuccess = &ambiguous{"Success"}

// ErrLine is the error of a question that is too long, or has a control character.
var ErrLine = errors.New("the request cannot be sent as a line to a helper program")

// Config configures the program of a Pool, and its limits. Name, Command, Log and Now must be set.
type Config struct {
	// Name names the helper in the log and in errors.
	Name string
	// Command is the path of the program and its arguments; it is not run by a shell.
	Command []string
	// Processes is the most processes; 0 means 5. They are started on demand.
	Processes int
	// Concurrency is the number of concurrent questions of a process, distinguished by channel-IDs; 0 is one,
	// without a channel-ID, which is a different protocol.
	Concurrency int
	// Backlog is the most questions that wait for a process; 0 means 1000: after Forget, all clients are asked about
	// at the same moment, and each waits for Timeout at most.
	Backlog int
	// Timeout is how long a question waits for a process, and then for its answer; 0 means 10 seconds.
	Timeout time.Duration
	// ReservationTimeout is how long a process waits for the next message of a client in a conversation (see
	// Negotiate); 0 means 15 seconds.
	ReservationTimeout time.Duration
	// Restart is how long no process is started after too many of them have died in a short time without an
	// answer. It doubles each time, up to 5 minutes. 0 means 5 seconds.
	Restart time.Duration
	// Log gets the standard error of the program, and the ends of its processes. No questions or answers are logged.
	Log *slog.Logger
	// Now is the clock.
	Now func() time.Time
}

// Limits of deaths: an outage starts if minDeaths processes (or Config.Processes, if that is more) die within
// deathWindow without an answer.
const (
	minDeaths   = 3
	deathWindow = 30 * time.Second
	maxRestart  = 5 * time.Minute
)

// defaultBacklog limits the memory of questions that wait for a process.
const defaultBacklog = 1000

// closeGrace is how long a process may run after the end of its standard input.
const closeGrace = time.Second

func (c Config) withDefaults() Config {
	c.Processes = cmp.Or(max(c.Processes, 0), 5)
	c.Concurrency = max(c.Concurrency, 0)
	c.Backlog = cmp.Or(max(c.Backlog, 0), defaultBacklog)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.ReservationTimeout = cmp.Or(c.ReservationTimeout, 15*time.Second)
	c.Restart = cmp.Or(c.Restart, 5*time.Second)
	return c
}

// channels returns the number of concurrent questions of a process.
func (c Config) channels() int { return max(c.Concurrency, 1) }

// Pool runs the processes of one program. It is safe for concurrent use.
type Pool struct {
	config  Config
	lines   *lineLog
	running sync.WaitGroup // one goroutine per process

	mu        sync.Mutex
	closed    bool
	processes []*process // those that may get questions
	starting  int
	queue     []*query    // waiting for a process, in order of arrival
	deaths    []time.Time // of processes without an answer, within deathWindow
	outage    outage
	counts    Status
}

// New returns a pool. It starts no process before the first question. The caller must close it.
func New(config Config) (*Pool, error) {
	program := ""
	if len(config.Command) > 0 {
		program = config.Command[0] // without arguments, which may contain passwords
	}
	if !filepath.IsAbs(program) {
		return nil, fmt.Errorf("helper %s: the program %q must be an absolute path, with each argument separate",
			config.Name, program)
	}
	return &Pool{config: config.withDefaults(), lines: newLineLog(config)}, nil
}

// Status has the state and the counters of a pool.
type Status struct {
	Processes int // running
	Waiting   int // questions waiting for a process
	InFlight  int // questions waiting for their answer
	// Queries counts questions, Failed those without an answer, TimedOut those of them that timed out, and
	// Restarts the processes that ended.
	Queries, Failed, TimedOut, Restarts uint64
}

// Status returns the current values.
func (p *Pool) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.counts
	s.Processes, s.Waiting = len(p.processes), len(p.queue)
	for _, one := range p.processes {
		s.InFlight += one.busy()
	}
	return s
}

// Failures returns, in sentences, why the helper is unavailable; empty if it is available.
func (p *Pool) Failures() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outage.empty() {
		return nil
	}
	return []string{p.outageText()}
}

// Close closes the standard input of the processes, kills those that do not exit, and waits for all.
// Questions in progress fail.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.failQueue(ErrClosed)
	for _, one := range p.processes {
		p.failAll(one, ErrClosed)
		_ = one.stdin.Close() // fails if it is closed already, when the process ends
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
