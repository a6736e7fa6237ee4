package valkey

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"time"

	client "github.com/valkey-io/valkey-go"
)

// head is the end of the log at the server.
type head struct {
	mark
	tag string // of the last log entry
}

// lookupReply is the reply to a query for a key.
type lookupReply struct {
	head   head
	left   time.Duration // until value expires; negative if it does not
	value  string
	found  bool
	leased bool // the caller has the lease and must load
}

// keys returns the server's keys for a place: of the entry, its lease and the log.
func (l *Level) keys(place string) []string {
	return []string{l.sealer.key("entry", place), l.sealer.key("lease", place), l.logKey()}
}

var errReply = errors.New("unexpected reply of the server")

// lookup queries an entry. If there is none and token is not "", it acquires the lease of the entry with this
// token.
func (l *Level) lookup(ctx context.Context, keys []string, token, except string) (lookupReply, error) {
	requested, cancel := context.WithTimeout(ctx, l.timeout.limit(l.config.Timeout))
	defer cancel()
	started := l.config.Now()
	reply, err := l.scripts.lookup.Exec(requested, l.server.Load(), keys,
		[]string{token, milliseconds(leaseFor), except}).ToArray()
	took := l.config.Now().Sub(started)
	if err != nil {
		if ctx.Err() == nil { // otherwise the caller has cancelled
			l.missed(err)
		}
		return lookupReply{}, err
	}
	l.timeout.observe(took)
	l.timeout.timedOut(false)
	made, err := parseLookupReply(reply)
	if err != nil {
		l.failed(err)
	}
	made.left -= took
	return made, err
}

// missed records an unanswered query. After a timeout the server stays in use, unless it times out often.
func (l *Level) missed(err error) {
	if !errors.Is(err, context.DeadlineExceeded) || l.timeout.timedOut(true) {
		l.failed(err)
		return
	}
	l.counts.failures.Add(1)
}

func parseLookupReply(reply []client.ValkeyMessage) (a lookupReply, err error) {
	if len(reply) < 4 {
		return a, errReply
	}
	if a.head, err = headOf(reply); err != nil {
		return a, err
	}
	number, err := reply[3].AsInt64()
	if err != nil || len(reply) == 4 {
		a.leased = number == 1
		return a, err
	}
	a.found, a.left = true, time.Duration(number)*time.Millisecond
	a.value, err = reply[4].ToString()
	return a, err
}

// headOf parses the end of the log. An identifier that urnd does not use gives the zero value.
func headOf(reply []client.ValkeyMessage) (h head, err error) {
	var texts [3]string
	for i := range texts {
		if texts[i], err = reply[i].ToString(); err != nil {
			return h, err
		}
	}
	if number, ok := numberOf(texts[0]); ok {
		h = head{mark{texts[1], number}, texts[2]}
	}
	return h, nil
}

// numberOf parses the identifier of a log entry.
func numberOf(id string) (uint64, bool) {
	text, ok := strings.CutSuffix(id, "-0")
	number, err := strconv.ParseUint(text, 10, 64)
	return number, ok && err == nil
}

func identifier(number uint64) string { return strconv.FormatUint(number, 10) + "-0" }

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// newToken returns a unique random text for the holder of a lease.
func newToken() string { return rand.Text() }
