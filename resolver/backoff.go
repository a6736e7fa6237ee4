package resolver

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// Backoff remembers failing servers: those that cannot be reached, and those that left requests of two
// witnesses (see Attempt.Failed) without a response. A resolver fails a request that needs such a server (Err),
// and the proxy prefers other servers (Failing). It is safe for concurrent use. A nil Backoff, and one with a
// period of 0, remember nothing.
type Backoff struct {
	period time.Duration
	now    func() time.Time

	mu      sync.Mutex
	servers map[string]serverState // servers with requests in progress, or with a remembered failure
}

// serverState is the state of one server. It is small enough for a map to store inline.
type serverState struct {
	underWay int
	answered time.Time // time of the last response while requests are in progress
	witness  string    // witness of the last request that failed
	failed   time.Time // time of that failure; the zero value if there was none since the last response
	err      error     // why the server is avoided; nil if it is not
	until    time.Time // end of the period of err
	claimed  bool      // Err has let one caller retry after the period of err
	probed   bool      // one caller is probing whether the server responds at all
}

const (
	// maxContacts limits the remembered servers without requests in progress.
	maxContacts = 4096
	// maxSeen limits the entries that are compared to choose one to evict.
	maxSeen = 64
	// agreement is the longest time between the failures of two witnesses that count together.
	agreement = 30 * time.Second
)

// NewBackoff returns a Backoff that avoids a server for a period after its failure. now is the clock.
func NewBackoff(period time.Duration, now func() time.Time) *Backoff {
	return &Backoff{period: period, now: now, servers: make(map[string]serverState)}
}

// Err returns the remembered failure of a server, or nil if it may be queried. After the period, one caller
// gets nil to retry; the other callers get nil once that caller has a response, and one of them may retry after
// another period.
func (b *Backoff) Err(server string) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.servers[server]
	if c.err == nil {
		return nil
	}
	now := b.now()
	if left := c.until.Sub(now); left > 0 {
		return fmt.Errorf("in backoff, next attempt in %s: %w", left.Round(time.Millisecond), c.err)
	}
	c.until, c.claimed = now.Add(b.period), true
	b.servers[server] = c
	return nil
}

// Failing reports whether a server is avoided.
func (b *Backoff) Failing(server string) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.servers[server].avoided(b.now())
}

// Empty reports whether no server is remembered: none is avoided, and none has a request in progress.
func (b *Backoff) Empty() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.servers) == 0
}

// Avoided is a server that is not queried because it failed, or only if there is no other server.
type Avoided struct {
	Server string
	Err    error
	Until  time.Time // when it may be queried again
}

// Avoided returns the servers that are avoided now, in no particular order.
func (b *Backoff) Avoided() (all []Avoided) {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for server, c := range b.servers {
		if c.avoided(now) {
			all = append(all, Avoided{server, c.err, c.until})
		}
	}
	return all
}

func (c serverState) avoided(now time.Time) bool { return c.err != nil && now.Before(c.until) }

// Attempt is one request to a server. Its first outcome counts: Answered, Unreachable, Failed or Abandon. It
// must not be used by several goroutines; the zero value ignores its outcome.
type Attempt struct {
	backoff *Backoff // nil once the outcome is recorded
	server  string
	started time.Time
	probes  bool // it is probing whether the server responds at all
}

// Begin starts a request to a server. The attempt must get an outcome: defer Abandon.
func (b *Backoff) Begin(server string) Attempt {
	if b == nil || b.period <= 0 {
		return Attempt{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.servers[server]
	c.underWay++
	b.servers[server] = c
	return Attempt{backoff: b, server: server, started: b.now()}
}

// Answered records that the server has responded, whatever the response was.
func (a *Attempt) Answered() { a.end(attemptAnswered, "", nil, false) }

// Unreachable records that the server cannot be reached, whatever the request.
func (a *Attempt) Unreachable(err error) { a.end(attemptUnreachable, "", err, false) }

// Failed records that a request of a witness got no response. The witness is what may have caused the failure,
// such as a client or a name. The server counts as failing if two witnesses failed within 30 seconds, and no
// request got a response since the request of the second one started. If probe is not nil, it must also return
// false: it sends a request of urnd's own, because one client may query two names whose servers are slow.
func (a *Attempt) Failed(witness string, err error, probe func() (answered bool)) {
	switch undecided := a.end(attemptFailed, witness, err, probe != nil); {
	case !undecided:
	case probe():
		a.Answered()
	default:
		a.Unreachable(err)
	}
}

// Abandon records an outcome that does not concern the server, such as a client that closed its connection. If
// Err had let this attempt retry, the next caller may.
func (a *Attempt) Abandon() { a.end(attemptAbandoned, "", nil, false) }

// attemptOutcome is the conclusion from an attempt about its server.
type attemptOutcome uint8

const (
	attemptAbandoned   attemptOutcome = iota // none
	attemptAnswered                          // it responds
	attemptFailed                            // it fails for one witness
	attemptUnreachable                       // it fails for all requests
)

// end records the outcome of an attempt. It returns true if the caller has to probe the server first.
func (a *Attempt) end(o attemptOutcome, witness string, err error, probes bool) (undecided bool) {
	b := a.backoff
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now, c := b.now(), b.servers[a.server]
	agreed := false
	if o == attemptFailed && !c.answered.After(a.started) {
		agreed = !c.failed.IsZero() && c.witness != witness && now.Sub(c.failed) < agreement
		c.witness, c.failed = strings.Clone(witness), now // it may share the memory of a long string
		undecided = agreed && probes && !c.probed
	}
	switch {
	case undecided:
		a.probes, c.probed = true, true
		b.servers[a.server] = c
		return true
	case o == attemptAnswered:
		c = serverState{underWay: c.underWay, answered: now}
	case o == attemptUnreachable, agreed && !probes:
		c.err, c.until, c.claimed, c.probed = err, now.Add(b.period), false, false
	case c.claimed: // no conclusion: another caller may retry
		c.until, c.claimed = now, false
	}
	if a.probes { // the probe may have panicked
		c.probed = false
	}
	c.underWay--
	a.backoff = nil
	b.put(a.server, c, now)
	return false
}

// put stores the state of a server if it is still needed; b.mu is held.
func (b *Backoff) put(server string, c serverState, now time.Time) {
	delete(b.servers, server)
	switch kept := c.err != nil || !c.failed.IsZero(); {
	case kept:
		server = strings.Clone(server) // it may share the memory of a long string
		b.servers[server] = c
		b.makeRoom(server, c, now)
	case c.underWay > 0:
		b.servers[server] = c
	}
}

// makeRoom evicts an entry if there are too many. Of a sample in map order and the entry just stored, it evicts
// those whose failure has expired, or else the one that leavesBefore orders first; b.mu is held.
func (b *Backoff) makeRoom(first string, least serverState, now time.Time) {
	if len(b.servers) <= maxContacts {
		return
	}
	seen := 0
	for server, c := range b.servers {
		switch {
		case c.underWay > 0:
		case !c.avoided(now) && now.Sub(c.failed) >= agreement:
			delete(b.servers, server)
		case least.underWay > 0, c.leavesBefore(least, now):
			first, least = server, c
		}
		if seen++; seen == maxSeen {
			break
		}
	}
	if len(b.servers) > maxContacts && least.underWay == 0 {
		delete(b.servers, first)
	}
}

// leavesBefore reports whether c is evicted before other. Servers that are not avoided, where only one witness
// failed, come first, by the time of their failure; then avoided ones, by the end of the period.
func (c serverState) leavesBefore(other serverState, now time.Time) bool {
	switch avoided := c.avoided(now); {
	case avoided != other.avoided(now):
		return !avoided
	case avoided:
		return c.until.Before(other.until)
	default:
		return c.failed.Before(other.failed)
	}
}
