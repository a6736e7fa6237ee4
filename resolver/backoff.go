package resolver

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// Backoff remembers which servers fail: those that cannot be reached, and those that did not answer what two witnesses
// requested. A resolver refuses what needs such a server (Err), and the proxy prefers others (Failing). It is safe for
// concurrent use. A nil Backoff, and one with a period of 0, remember nothing.
type Backoff struct {
	period time.Duration
	now    func() time.Time

	mu      sync.Mutex
	servers map[string]contact // with requests under way, or with a failure
}

// contact is what is known of one server. It is small enough for a map to have it in place.
type contact struct {
	underWay int
	answered time.Time // the last answer while requests are under way
	witness  string    // of the last request that was not answered
	failed   time.Time // when that was, the zero value for none since the last answer
	err      error     // why the server is avoided; nil where it is not
	until    time.Time // the end of err
	claimed  bool      // Err lets one caller ask, after err has ended
	probed   bool      // one caller finds out whether the server answers at all
}

const (
	// maxContacts bounds the servers that are remembered besides those with requests under way.
	maxContacts = 4096
	// maxSeen bounds how many of them are compared where one is forgotten.
	maxSeen = 64
	// agreement is how long after the failure that one witness saw that of another one counts.
	agreement = 30 * time.Second
)

// NewBackoff returns a Backoff that avoids a server for a period after its failure.
func NewBackoff(period time.Duration, now func() time.Time) *Backoff {
	return &Backoff{period: period, now: now, servers: make(map[string]contact)}
}

// Err returns the remembered failure of a server, or nil if it may be asked. When the period ends, one caller gets nil,
// and others do so only once that one has an answer, or after another period.
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
		return fmt.Errorf("not asked again for %s: %w", left.Round(time.Millisecond), c.err)
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

// Empty reports whether no server is avoided, and none has a request under way.
func (b *Backoff) Empty() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.servers) == 0
}

// Avoided is a server that is not asked, or only where there is no other, since it failed.
type Avoided struct {
	Server string
	Err    error     // why
	Until  time.Time // when it is asked again
}

// Avoided returns the servers that are avoided now, in no order.
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

func (c contact) avoided(now time.Time) bool { return c.err != nil && now.Before(c.until) }

// Attempt is one request to a server. Its first outcome counts: Answered, Unreachable, Failed or Abandon. It is for one
// goroutine; the zero value has an outcome already.
type Attempt struct {
	backoff *Backoff // nil once there is an outcome
	server  string
	begun   time.Time
	probes  bool // it finds out whether the server answers at all
}

// Begin begins a request to a server, which must get an outcome: defer Abandon.
func (b *Backoff) Begin(server string) Attempt {
	if b == nil || b.period <= 0 {
		return Attempt{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.servers[server]
	c.underWay++
	b.servers[server] = c
	return Attempt{backoff: b, server: server, begun: b.now()}
}

// Answered records that the server has answered, whatever it said.
func (a *Attempt) Answered() { a.end(attemptAnswered, "", nil, false) }

// Unreachable records that the server cannot be reached, by anybody.
func (a *Attempt) Unreachable(err error) { a.end(attemptUnreachable, "", err, false) }

// Failed records that the server did not answer a request of a witness: what a failure may be due to, such as a client
// or a name. It is a failure of the server where two witnesses saw it within 30 seconds, and no request had an answer since the
// request of the second one; and if the server does not answer a question of urnd's own either, which probe asks, nil for
// none: one client may ask for two names at which servers are slow.
func (a *Attempt) Failed(witness string, err error, probe func() (answered bool)) {
	switch undecided := a.end(attemptFailed, witness, err, probe != nil); {
	case !undecided:
	case probe():
		a.Answered()
	default:
		a.Unreachable(err)
	}
}

// Abandon records that the request says nothing about the server, as its client has left. If it was the one that Err let
// ask, the next caller may.
func (a *Attempt) Abandon() { a.end(attemptAbandoned, "", nil, false) }

// attemptOutcome is what an attempt says about its server.
type attemptOutcome uint8

const (
	attemptAbandoned   attemptOutcome = iota // nothing
	attemptAnswered                          // that it answers
	attemptFailed                            // that it fails for a witness
	attemptUnreachable                       // that it fails for all
)

// end records the outcome of an attempt. It is undecided where the caller has to probe the server first.
func (a *Attempt) end(o attemptOutcome, witness string, err error, probes bool) (undecided bool) {
	b := a.backoff
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now, c := b.now(), b.servers[a.server]
	agreed := false
	if o == attemptFailed && !c.answered.After(a.begun) {
		agreed = !c.failed.IsZero() && c.witness != witness && now.Sub(c.failed) < agreement
		c.witness, c.failed = strings.Clone(witness), now // it may be a part of a long text
		undecided = agreed && probes && !c.probed
	}
	switch {
	case undecided:
		a.probes, c.probed = true, true
		b.servers[a.server] = c
		return true
	case o == attemptAnswered:
		c = contact{underWay: c.underWay, answered: now}
	case o == attemptUnreachable, agreed && !probes:
		c.err, c.until, c.claimed, c.probed = err, now.Add(b.period), false, false
	case c.claimed: // it says nothing about the server: another caller may find out
		c.until, c.claimed = now, false
	}
	if a.probes { // a probe may have panicked
		c.probed = false
	}
	c.underWay--
	a.backoff = nil
	b.put(a.server, c, now)
	return false
}

// put remembers what is known of a server, if it is of use; b.mu is held.
func (b *Backoff) put(server string, c contact, now time.Time) {
	delete(b.servers, server)
	switch isKept := c.err != nil || !c.failed.IsZero(); {
	case isKept:
		server = strings.Clone(server) // it may be a part of a long text
		b.servers[server] = c
		b.makeRoom(server, c, now)
	case c.underWay > 0:
		b.servers[server] = c
	}
}

// makeRoom forgets a server where too many are remembered: of some that the map happens to give, and the one that was put,
// those whose failure is over, or else the one that leaves first; b.mu is held.
func (b *Backoff) makeRoom(first string, least contact, now time.Time) {
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

// leavesBefore reports whether a server is forgotten before another one: what only one witness saw, then what ends first.
func (c contact) leavesBefore(other contact, now time.Time) bool {
	switch avoided := c.avoided(now); {
	case avoided != other.avoided(now):
		return !avoided
	case avoided:
		return c.until.Before(other.until)
	default:
		return c.failed.Before(other.failed)
	}
}
