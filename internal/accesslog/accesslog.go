// Package accesslog writes a line for each request, in formats that common tools read.
package accesslog

import (
	"bytes"
	"io"
	"net/http"
	"net/netip"
	"strings"
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
	Scheme, Host string // Host is the field Host of others
	Proto        string // "HTTP/1.1"
	Status       int
	Bytes        int64 // of the body
	Cache        string
	Server       netip.AddrPort // the origin that answered; the zero value for none, or where it is not known
	Forwarded    bool           // it was a request for an origin, whoever answered it
	Refused      bool           // urnd itself has answered with an error
	Denied       bool           // by its rules, or it has ended a tunnel by them, whose status is another
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

// Config is which requests a Log writes, and what of them. The zero value writes all of all requests as JSON.
type Config struct {
	Format Format
	// Only reports whether a request is logged, nil for all. It must not retain the entry, is not called concurrently, and sees the
	// whole entry, whatever Clients and Omit are.
	Only    func(*Entry) bool
	Clients Clients
	Omit    Omit
	Lost    func() // is called for each entry that could not be written, also concurrently
}

// Log writes entries off the way of a request: lines gather in memory, and are written whole and
// together after gatherTime. It is safe for concurrent use.
type Log struct {
	config Config
	drops  bool // lines are lost, rather than waited for, while maxPending bytes wait

	mu      sync.Mutex
	record  record    // of the line that is appended: an argument of a function that is a value would be allocated
	pending []byte    // lines that are not written yet
	space   sync.Cond // pending was taken to be written
	timer   *time.Timer
	flushes sync.WaitGroup // those of the timer

	writing sync.Mutex // taken before mu
	w       io.Writer
	broken  bool   // the last line was not written whole
	spare   []byte // the next pending
}

// record is an entry while its line is appended.
type record struct {
	Entry

	raw []byte // scratch for a value before it is quoted
}

// New returns a Log that writes to w. It must be closed.
func New(w io.Writer, c Config) *Log {
	l := &Log{w: w, config: c}
	l.space.L = &l.mu
	return l
}

// Write logs one entry, whose strings it does not keep. It waits only where a MiB of lines is to be
// written to a file before. An entry that cannot be written is dropped: a full disk must not stop a resolver.
func (l *Log) Write(e Entry) {
	if e.Method == http.MethodConnect { // its target is only the authority of a URL
		e.Target = redactAuthority(e.Target)
	} else {
		e.Target = redact.URLs(e.Target)
	}
	e.Host = redactAuthority(e.Host)
	e.Referer, e.UserAgent = redact.URLs(e.Referer), redact.URLs(e.UserAgent)
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.pending) >= maxPending && !l.drops {
		l.space.Wait()
	}
	l.record.Entry = e
	before := len(l.pending)
	switch {
	case l.config.Only != nil && !l.config.Only(&l.record.Entry):
	case before >= maxPending:
		l.config.Lost()
	default:
		l.append()
	}
	l.record.Entry = Entry{}
	switch after := len(l.pending); {
	case before < maxPending/2 && after >= maxPending/2:
		l.flushAfter(0)
	case before == 0 && after > 0:
		l.flushAfter(gatherTime)
	}
}

// redactAuthority removes the password from the authority of a URL. One without an at sign, plain or percent-encoded, has none, and is not
// copied.
func redactAuthority(text string) string {
	if !strings.ContainsAny(text, "@%") {
		return text
	}
	return redact.URLs("//" + text)[2:]
}

// append appends the line of the record. The caller has locked mu.
func (l *Log) append() {
	e := &l.record.Entry
	e.Client = l.config.Clients.of(e.Client)
	l.config.Omit.from(e)
	l.pending = l.config.Format.append(l.pending, &l.record)
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
		l.config.Lost()
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
