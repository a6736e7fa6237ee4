package valkey

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// Purge is what a purge is about. The room that purges knows what kinds there are.
type Purge struct {
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"`
	Soft bool   `json:"soft,omitempty"` // what is purged may be used while its source fails
	// By is the instance that has published it, set by Publish: see Level.IsOwn.
	By string `json:"by,omitempty"`
}

// Everything is the kind of a purge of all caches: also what their contents were made of.
const Everything = "everything"

// watches are the caches of the instance, which purges of others reach.
type watches struct {
	mu   sync.Mutex
	next int
	all  map[int]func(Purge)
}

// Watch calls purged with each purge that is in the log, those of this instance too, until end is called: it is to purge what the
// instance has in memory, all of it where the kind is Everything. It is called by one goroutine, and not any more when end has
// returned.
func (l *Level) Watch(purged func(Purge)) (end func()) {
	w := &l.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = make(map[int]func(Purge))
	}
	n := w.next
	w.next++
	w.all[n] = purged
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, n)
	}
}

func (w *watches) tell(p Purge) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, purged := range w.all {
		purged(p)
	}
}

// unsent are the purges of this instance that are not in the log yet, in their order. Entries that they are about are not used.
type unsent struct {
	mu  sync.Mutex
	all []Purge

	publishing sync.Mutex // one publishes at a time, so that none is published twice
}

// maxUnsent bounds them: more are one of everything.
const maxUnsent = 100

func (u *unsent) add(p Purge) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.all) >= maxUnsent {
		u.all = []Purge{{Kind: Everything}}
		return
	}
	u.all = append(u.all, p)
}

func (u *unsent) first() (Purge, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.all) == 0 {
		return Purge{}, false
	}
	return u.all[0], true
}

// sent removes the first one, unless all have become one of everything since.
func (u *unsent) sent(p Purge) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.all) > 0 && u.all[0] == p {
		u.all = u.all[1:]
	}
}

func (u *unsent) has(about func(Purge) bool) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, p := range u.all {
		if p.Kind == Everything || about(p) {
			return true
		}
	}
	return false
}

// IsOwn reports whether a purge was published by this level.
func (l *Level) IsOwn(p Purge) bool { return p.By == l.id }

// Publish tells a purge to all instances. It must be called before the caches of this one are purged: what a load has begun to make
// by then is not shared any more. It waits for the server for a second at most; where the server does not answer,
// the purge is published as soon as it does, and the error is of why that is not now.
func (l *Level) Publish(ctx context.Context, p Purge) error {
	p.By = l.id
	l.unsent.add(p)
	l.rouse()
	if !l.isOpen.Load() {
		return errAway
	}
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	return l.flush(ctx)
}

// flush publishes what is unsent.
func (l *Level) flush(ctx context.Context) error {
	l.unsent.publishing.Lock()
	defer l.unsent.publishing.Unlock()
	for {
		p, ok := l.unsent.first()
		if !ok {
			return nil
		}
		if err := l.append(ctx, p); err != nil {
			return err
		}
		l.unsent.sent(p)
	}
}

// append adds a purge to the log, behind what others add meanwhile.
func (l *Level) append(ctx context.Context, p Purge) error {
	text, err := json.Marshal(p)
	if len(text) > maxPurge {
		text, err = json.Marshal(Purge{Kind: Everything, By: p.By})
	}
	if err != nil {
		return err
	}
	at, err := l.head(ctx)
	const attempts = 100 // others add, too
	for range attempts {
		if err != nil {
			return err
		}
		next := at
		if next.number++; at.epoch == "" {
			next.epoch = newToken()
		}
		var added bool
		if at, added, err = l.add(ctx, at, next, text); added {
			l.sent.Store(&at)
			return err
		}
	}
	return errReply
}

// retained is how many purges are kept: an instance that was away for more purges all that it has.
const retained = 1000

// maxPurge is the longest purge in the log, in octets: one that is longer is one of everything.
const maxPurge = 8 << 10

// pollEvery is how often the end of the log is compared with what an instance has read: a log that begins anew ends no wait.
const pollEvery = 300 * time.Millisecond
