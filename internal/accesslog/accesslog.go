// Package accesslog writes a line for each request, in formats that common tools read.
package accesslog

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/redact"
)

// Entry is one request.
type Entry struct {
	Time      time.Time // when it ended
	Took      time.Duration
	Client    string // its address, "" if it has none
	User      string // "" if no authentication was required
	Method    string
	Target    string // as received
	Proto     string // "HTTP/1.1"
	Status    int
	Bytes     int64 // of the body
	Cache     string
	Rule      string // the rule of the site that decided, "" for none
	Form      string
	Service   string
	RequestID string
	Referer   string
	UserAgent string
	Type      string // the media type of the response
}

// Log writes entries. It is safe for concurrent use: lines are written whole.
type Log struct {
	mu     sync.Mutex
	w      io.Writer
	format func([]byte, Entry) []byte
	buffer []byte
	broken bool   // the last line was not written whole
	lost   func() // called for each entry that could not be written
}

// New returns a Log in the format "json", "combined" (of Apache) or "squid".
// lost is called for each entry that could not be written.
func New(w io.Writer, format string, lost func()) *Log {
	formats := map[string]func([]byte, Entry) []byte{"json": appendJSON, "combined": appendCombined, "squid": appendSquid}
	return &Log{w: w, format: formats[format], lost: lost}
}

// Write writes one entry. An entry that cannot be written is dropped: a full disk must
// not stop a resolver.
func (l *Log) Write(e Entry) {
	if e.Method == http.MethodConnect { // its target is only the authority of a URL
		e.Target = "//" + e.Target
	}
	e.Target, e.Referer, e.UserAgent = redact.URLs(e.Target), redact.URLs(e.Referer), redact.URLs(e.UserAgent)
	if e.Method == http.MethodConnect {
		e.Target = e.Target[2:]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buffer = l.buffer[:0]
	if l.broken {
		l.buffer = append(l.buffer, '\n')
	}
	l.buffer = l.format(l.buffer, e)
	n, err := l.w.Write(l.buffer)
	l.broken = n > 0 && n < len(l.buffer) || l.broken && n == 0
	if err != nil {
		l.lost()
	}
}

// Redirect makes the log write to w from now on.
func (l *Log) Redirect(w io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.w, l.broken = w, false
}

type entryJSON struct {
	Time      string  `json:"time"`
	Client    string  `json:"client"`
	User      string  `json:"user,omitempty"`
	Method    string  `json:"method"`
	Target    string  `json:"target"`
	Proto     string  `json:"proto"`
	Status    int     `json:"status"`
	Bytes     int64   `json:"bytes"`
	Millis    float64 `json:"ms"`
	Cache     string  `json:"cache"`
	Rule      string  `json:"rule,omitempty"`
	Form      string  `json:"form"`
	Service   string  `json:"service"`
	RequestID string  `json:"request_id"`
	Referer   string  `json:"referer,omitempty"`
	UserAgent string  `json:"user_agent,omitempty"`
}

func appendJSON(b []byte, e Entry) []byte {
	line, err := json.Marshal(entryJSON{
		e.Time.UTC().Format(time.RFC3339Nano), e.Client, e.User, e.Method, e.Target, e.Proto, e.Status, e.Bytes,
		float64(e.Took.Microseconds()) / 1000, e.Cache, e.Rule, e.Form, e.Service, e.RequestID, e.Referer, e.UserAgent,
	})
	if err != nil {
		return b // none of these types can fail
	}
	return append(append(b, line...), '\n')
}

// appendCombined is the "combined" format of Apache's mod_log_config.
func appendCombined(b []byte, e Entry) []byte {
	return fmt.Appendf(b, "%s - %s [%s] \"%s %s %s\" %d %d \"%s\" \"%s\"\n",
		dash(e.Client), dash(escape(e.User)), e.Time.Format("02/Jan/2006:15:04:05 -0700"),
		escape(e.Method), escape(e.Target), e.Proto, e.Status, e.Bytes, dash(escape(e.Referer)), dash(escape(e.UserAgent)))
}

// appendSquid is the native format of Squid's access.log.
func appendSquid(b []byte, e Entry) []byte {
	return fmt.Appendf(b, "%d.%03d %6d %s %s/%03d %d %s %s %s HIER_NONE/- %s\n",
		e.Time.Unix(), e.Time.Nanosecond()/1e6, e.Took.Milliseconds(), dash(e.Client), squidCode(e), e.Status, e.Bytes,
		word(e.Method), word(e.Target), dash(word(e.User)), dash(word(e.Type)))
}

// squidCode returns the result code of Squid for a request: its kind, or the outcome of a cache lookup.
func squidCode(e Entry) string {
	switch {
	case e.Status == http.StatusForbidden || e.Status == http.StatusProxyAuthRequired:
		return "TCP_DENIED"
	case e.Method == http.MethodConnect:
		return "TCP_TUNNEL"
	}
	switch e.Cache {
	case "hit":
		return "TCP_MEM_HIT"
	case "revalidated":
		return "TCP_REFRESH_UNMODIFIED"
	case "stale":
		return "TCP_REFRESH_FAIL_OLD"
	case "miss", "collapsed":
		return "TCP_MISS"
	default:
		return "NONE"
	}
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// escape escapes octets that could end a quoted field or a line, and non-ASCII octets.
func escape(s string) string {
	return mapBytes(s, func(c byte) bool { return c >= ' ' && c < 0x7F && c != '"' && c != '\\' }, `\x%02x`)
}

// word percent-encodes spaces, control characters and non-ASCII octets, as Squid does.
func word(s string) string {
	return mapBytes(s, func(c byte) bool { return c > ' ' && c < 0x7F }, "%%%02X")
}

func mapBytes(s string, safe func(byte) bool, format string) string {
	bad := func(r rune) bool { return r >= 0x80 || !safe(byte(r)) } //nolint:gosec // it fits
	if strings.IndexFunc(s, bad) < 0 {
		return s
	}
	var b strings.Builder
	for _, c := range []byte(s) {
		if safe(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, format, c)
		}
	}
	return b.String()
}
