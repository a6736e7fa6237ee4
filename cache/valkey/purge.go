package valkey

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// Purge is the selection of a purge. Package purges defines the kinds.
type Purge struct {
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"`
	Soft bool   `json:"soft,omitempty"` // purged entries may be used while their source fails
	// By is the instance that published it, set by Publish: see Level.IsOwn.
	By string `json:"by,omitempty"`
}

// PurgeEverything is the kind of a purge of all caches, including the data that their contents were derived from.
const PurgeEverything = "everything"

// watches are the callbacks of the instance's caches for purges.
type watches struct {
	mu   sync.Mutex
	next int
	all  map[int]func(Purge)
}

// Watch calls purged for each purge in the log, including those of this instance, until end is called. purged
// must purge the instance's memory, all of it if the kind is PurgeEverything. It is called by one goroutine, and not
// after end has returned.
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

func (w *watches) notify(p Purge) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, purged := range w.all {
		purged(p)
	}
}

// unsent are the purges of this instance that are not in the log yet, in order. Entries that they select are
// not used.
type unsent struct {
	mu  sync.Mutex
	all []Purge

	publishing sync.Mutex // held by the publisher, so that no purge is published twice
}

// maxUnsent limits the unsent purges: beyond it, they become one of PurgeEverything.
const maxUnsent = 100

func (u *unsent) add(p Purge) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.all) >= maxUnsent {
		u.all = []Purge{{Kind: PurgeEverything}}
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

// sent removes the first purge, unless all have become one of PurgeEverything in the meantime.
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
		if p.Kind == PurgeEverything || about(p) {
			return true
		}
	}
	return false
}

// IsOwn reports whether a purge was published by this level.
func (l *Level) IsOwn(p Purge) bool { return p.By == l.id }

// Publish sends a purge to all instances. It must be called before the caches of this instance are purged:
// outcomes of loads that began before it are then no longer shared. It waits for the server for a second at
// most. If the server does not respond, the purge is published as soon as it does, and the error says why it is
// delayed.
func (l *Level) Publish(ctx context.Context, p Purge) error {
	p.By = l.id
	l.unsent.add(p)
	l.wakeUp()
	if !l.open.Load() {
		return errAway
	}
	ctx, cancel := context.WithTimeout(ctx, backgroundTimeout)
	defer cancel()
	return l.flush(ctx)
}

// flush publishes the unsent purges.
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

// append adds a purge to the log, behind concurrent purges of other instances.
func (l *Level) append(ctx context.Context, p Purge) error {
	text, err := json.Marshal(p)
	if len(text) > maxPurge {
		text, err = json.Marshal(Purge{Kind: PurgeEverything, By: p.By})
	}
	if err != nil {
		return err
	}
	at, err := l.head(ctx)
	const attempts = 100 // other instances add concurrently
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

// retained is the number of purges in the log: an instance that has missed more purges all its entries.
const retained = 1000

// maxPurge is the maximum length of a purge in the log, in bytes: a longer one becomes one of PurgeEverything.
const maxPurge = 8 << 10

// pollEvery is how often the end of the log is compared with the position of an instance, because the start of
// a new log does not end a blocking read.
const pollEvery = 300 * time.Millisecond
