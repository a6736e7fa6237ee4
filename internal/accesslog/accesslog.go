// Package accesslog writes a line for each request, in formats that common tools read.
package accesslog

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/redact"
)

// Entry is one request.
type Entry struct {
	Time   time.Time // when it ended
	Took   time.Duration
	Client netip.Addr // the zero value where it has no address
	User   string     // "" if no authentication was required
	Method string
	Target string // as received
	// Scheme and Host are those of the target URI where Target is only its path, of a site or by HTTP/2: the line has them
	// before it. Scheme is "" for others.
	Scheme, Host string
	Proto        string // "HTTP/1.1"
	Status       int
	Bytes        int64 // of the body
	Cache        string
	Server       netip.AddrPort // the origin that answered; the zero value for none, or where it is not known
	Forwarded    bool           // it was a request for an origin, whoever answered it
	Refused      bool           // urnd itself has answered with an error
	Rule         string         // the rule of the site that decided, "" for none
	Form         string
	Service      string
	RequestID    string
	Referer      string
	UserAgent    string
	Type         string // the media type of the response
}

const (
	// gatherTime is how long a line waits for others that are written with it.
	gatherTime = 10 * time.Millisecond
	// maxPending bounds the lines that wait, in octets; the last one may exceed it.
	maxPending = 1 << 20
	// maxWrite bounds a write of several lines: more octets may be torn in a pipe to which
	// others write (PIPE_BUF, pipe(7)), such as standard error.
	maxWrite = 4096
)

// Log writes entries off the way of a request: lines gather in memory, and are written whole and
// together after gatherTime. It is safe for concurrent use.
type Log struct {
	format format
	lost   func()

	mu      sync.Mutex
	pending []byte    // lines that are not written yet
	space   sync.Cond // pending was taken to be written
	timer   *time.Timer
	flushes sync.WaitGroup // those of the timer

	writing sync.Mutex // taken before mu
	w       io.Writer
	broken  bool   // the last line was not written whole
	spare   []byte // the next pending
}

// New returns a Log in the format "json", "combined" (of Apache) or "squid".
// lost is called for each entry that could not be written. The Log must be closed.
func New(w io.Writer, format string, lost func()) *Log {
	l := &Log{w: w, format: formatOf(format), lost: lost}
	l.space.L = &l.mu
	return l
}

// Write logs one entry, whose strings it does not keep. It waits only where a MiB of lines is to be
// written before. An entry that cannot be written is dropped: a full disk must not stop a resolver.
func (l *Log) Write(e Entry) {
	if e.Method == http.MethodConnect { // its target is only the authority of a URL
		e.Target = redact.URLs("//" + e.Target)[2:]
	} else {
		e.Target = redact.URLs(e.Target)
	}
	e.Host = redact.URLs("//" + e.Host)[2:]
	e.Referer, e.UserAgent = redact.URLs(e.Referer), redact.URLs(e.UserAgent)
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.pending) >= maxPending {
		l.space.Wait()
	}
	before := len(l.pending)
	l.pending = l.format.append(l.pending, &e)
	switch after := len(l.pending); {
	case before < maxPending/2 && after >= maxPending/2:
		l.flushAfter(0)
	case before == 0:
		l.flushAfter(gatherTime)
	}
}

// flushAfter lets the lines be written after a time. The caller has locked mu.
func (l *Log) flushAfter(wait time.Duration) {
	switch {
	case l.timer == nil:
		l.flushes.Add(1)
		l.timer = time.AfterFunc(wait, func() {
			defer l.flushes.Done()
			l.Flush()
		})
	case !l.timer.Reset(wait):
		l.flushes.Add(1)
	}
}

// Flush returns when all that was logged before is written, or lost.
func (l *Log) Flush() {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.flush()
}

// flush writes the lines that wait. The caller has locked writing.
func (l *Log) flush() {
	l.mu.Lock()
	lines := l.pending
	l.pending = l.spare[:0]
	l.mu.Unlock()
	l.space.Broadcast()
	l.spare = lines
	for len(lines) > 0 {
		n := len(lines)
		if n > maxWrite {
			n = bytes.LastIndexByte(lines[:maxWrite], '\n') + 1
		}
		if n == 0 { // it begins with a line that is longer
			n = bytes.IndexByte(lines, '\n') + 1
		}
		l.write(lines[:n])
		lines = lines[n:]
	}
}

// write writes whole lines at once. The caller has locked writing.
func (l *Log) write(lines []byte) {
	if l.broken {
		n, _ := l.w.Write([]byte{'\n'})
		l.broken = n == 0
	}
	n := 0
	if !l.broken {
		n, _ = l.w.Write(lines)
		l.broken = n > 0 && lines[n-1] != '\n'
	}
	for range bytes.Count(lines[n:], []byte{'\n'}) {
		l.lost()
	}
}

// Redirect makes the log write to w from now on. What was logged before is written where it was
// written until now.
func (l *Log) Redirect(w io.Writer) {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.flush()
	l.w, l.broken = w, false
}

// Close returns when all is written, and nothing runs any more. It must be called after the last Write.
func (l *Log) Close() {
	l.mu.Lock()
	if l.timer != nil && l.timer.Stop() {
		l.flushes.Done()
	}
	l.mu.Unlock()
	l.Flush()
	l.flushes.Wait()
}

// writeState is whether the access log can be written, as its last line was. It is safe for concurrent use.
type writeState struct {
	log *slog.Logger
	now func() time.Time

	mu     sync.Mutex
	fault  error
	logged time.Time // when a fault was last logged; the zero value where writing was logged to work again
}

// logFaultEvery is the least time between two lines of the log about this: on a full disk, short lines may still fit.
const logFaultEvery = time.Minute

// wrote records the outcome of a write.
func (s *writeState) wrote(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err
	now := s.now()
	switch recent := now.Sub(s.logged) < logFaultEvery; {
	case err != nil && (s.logged.IsZero() || !recent):
		s.log.Error("the access log cannot be written, and lines of it are lost", "error", err)
		s.logged = now
	case err == nil && !s.logged.IsZero() && !recent:
		s.log.Info("the access log is written again")
		s.logged = time.Time{}
	}
}

// faults are what is wrong with the access log.
func (s *writeState) faults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		return nil
	}
	return []string{fmt.Sprintf("the access log cannot be written, and lines of it are lost: %s", s.fault)}
}

// stateWriter is a writer of the access log whose outcomes are recorded.
type stateWriter struct {
	io.Writer
	state *writeState
}

// Write implements io.Writer.
func (w stateWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.state.wrote(err)
	return n, err
}
