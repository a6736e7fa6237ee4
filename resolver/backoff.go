package resolver

import (
	"fmt"
	"sync"
	"time"
)

// Backoff remembers which servers could not be reached, so that the names that need them
// fail at once for a while, instead of waiting for the same timeout one after another. It
// is safe for concurrent use. A nil Backoff remembers nothing.
type Backoff struct {
	period time.Duration
	now    func() time.Time

	mu      sync.Mutex
	servers map[string]*contact
}

// contact is what is known of one server.
type contact struct {
	answered time.Time // when its last answer came
	about    string    // what a request was about that had no answer since then
	err      error     // why it could not be reached; nil while it is asked
	until    time.Time // of err
	probed   bool      // somebody finds out whether it answers at all
}

// maxContacts bounds the servers that are remembered.
const maxContacts = 4096

// NewBackoff returns a Backoff. For period after a failure a server is not asked again;
// 0 remembers nothing.
func NewBackoff(period time.Duration, now func() time.Time) *Backoff {
	return &Backoff{period: period, now: now, servers: make(map[string]*contact)}
}

// Err returns the remembered failure of a server, or nil if it may be asked. When the
// period ends, one caller gets nil, and others do so only once that one has an answer, or
// after another period.
func (b *Backoff) Err(server string) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.servers[server]
	if c == nil || c.err == nil {
		return nil
	}
	now := b.now()
	if left := c.until.Sub(now); left > 0 {
		return fmt.Errorf("not asked again for %s: %w", left.Round(time.Millisecond), c.err)
	}
	c.until = now.Add(b.period)
	return nil
}

// Answered records that a server has answered.
func (b *Backoff) Answered(server string) {
	b.update(server, func(c *contact) { *c = contact{answered: b.now()} })
}

// Unreachable records that a server could not be reached.
func (b *Backoff) Unreachable(server string, err error) {
	b.update(server, func(c *contact) { c.err, c.until, c.probed = err, b.now().Add(b.period), false })
}

// Failed records that a server which could be reached did not answer a request about something,
// such as a name, that was sent at a time. It is a failure of the server after requests about
// two different things without an answer in between, if it does not answer a question of urnd's own
// either, which probe asks: one client may ask for two names at which servers are slow.
func (b *Backoff) Failed(server, about string, sent time.Time, err error, probe func() (answered bool)) {
	suspected := false
	b.update(server, func(c *contact) {
		switch {
		case c.answered.After(sent):
		case c.about == "":
			c.about = about
		case c.about == about: // that it fails again says nothing about the server
			c.err = nil
		default:
			suspected, c.probed = !c.probed, true
		}
	})
	switch {
	case !suspected:
	case probe():
		b.Answered(server)
	default:
		b.Unreachable(server, err)
	}
}

// Avoided is a server that is not asked, or only where there is no other, since it failed.
type Avoided struct {
	Server string
	Why    string    // "" where it is not known
	Until  time.Time // when it is asked again
}

// Avoided returns the servers that are not asked now, at most so many.
func (b *Backoff) Avoided(most int) (all []Avoided) {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for server, c := range b.servers {
		if len(all) == most {
			break
		}
		if c.err != nil && now.Before(c.until) {
			all = append(all, Avoided{server, c.err.Error(), c.until})
		}
	}
	return all
}

// Release is for a caller that was told to ask a server, and has left before its answer: the
// next caller may ask.
func (b *Backoff) Release(server string) {
	b.update(server, func(c *contact) {
		if c.err != nil {
			c.until = b.now()
		}
	})
}

// update changes what is known of a server, if there is room for it.
func (b *Backoff) update(server string, change func(*contact)) {
	if b == nil || b.period <= 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.contact(server); c != nil {
		change(c)
	}
}

// contact returns what is known of a server, nil if there is no room for it; b.mu is held.
func (b *Backoff) contact(server string) *contact {
	c := b.servers[server]
	if c == nil {
		if len(b.servers) >= maxContacts {
			b.forget()
		}
		if len(b.servers) >= maxContacts {
			return nil
		}
		c = new(contact)
		b.servers[server] = c
	}
	return c
}

// forget removes the servers that may be asked; b.mu is held.
func (b *Backoff) forget() {
	now := b.now()
	for server, c := range b.servers {
		if c.err == nil || !now.Before(c.until) {
			delete(b.servers, server)
		}
	}
}
