package stored

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/urnd/urnd/cache/httpcache"
	adminapi "github.com/urnd/urnd/proxy/admin/api"
)

// PurgesConfig connects the purges of stored responses with those of other processes. The zero value is for a
// single process.
type PurgesConfig struct {
	// Publish announces a purge to other processes, before it is done here.
	Publish func(ctx context.Context, s adminapi.ResponseSelection, hard bool)
	// Position returns the position in the journal up to which the purges of others were passed to Follow,
	// and Save stores it when all of them are done.
	Position func() []byte
	Save     func(position []byte)
}

// Purges purges stored responses. It is safe for concurrent use. The caller must close it.
type Purges struct {
	cache  *httpcache.Cache
	config PurgesConfig

	own     sync.RWMutex // read-locked while a purge is published and done
	behind  atomic.Bool  // a purge has failed on disk: no position is saved any more
	queue   chan func()
	ended   chan struct{}
	running sync.WaitGroup
}

// maxPurges limits the queue of purges of other processes; a queued purge is already in effect.
const maxPurges = 64

// NewPurges returns the purges of a cache. With Publish it starts a goroutine.
func NewPurges(cache *httpcache.Cache, config PurgesConfig) *Purges {
	p := &Purges{cache: cache, config: config, queue: make(chan func(), maxPurges), ended: make(chan struct{})}
	if config.Publish != nil {
		p.running.Go(p.run)
	}
	return p
}

// Close stops the goroutine and waits for it: queued purges are not carried out, and the position is not
// saved.
func (p *Purges) Close() {
	close(p.ended)
	p.running.Wait()
}

// Purge purges a selection, here and in other processes, and returns the number of responses here.
func (p *Purges) Purge(ctx context.Context, s adminapi.ResponseSelection, hard bool) int {
	if p.config.Publish == nil {
		purged, _ := p.announce(s, hard)()
		return purged
	}
	p.own.RLock()
	p.config.Publish(ctx, s, hard)
	purged := p.carryOut(p.announce(s, hard))
	p.own.RUnlock()
	p.Advance()
	return purged
}

// Follow applies a purge of another process. It is in effect when Follow returns, and is carried out in the
// background.
func (p *Purges) Follow(s adminapi.ResponseSelection, hard bool) {
	carryOut := p.announce(s, hard)
	p.wait(func() { p.carryOut(carryOut) })
}

// carryOut carries a purge out, and records a failure in behind.
func (p *Purges) carryOut(carryOut func() (int, bool)) int {
	purged, done := carryOut()
	if !done {
		p.behind.Store(true)
	}
	return purged
}

// Advance records that the position has changed by an event that concerns no stored response.
func (p *Purges) Advance() { p.wait(func() {}) }

func (p *Purges) wait(do func()) {
	select {
	case p.queue <- do:
	case <-p.ended:
	}
}

// announce puts a purge into effect, and returns the function that carries it out.
func (p *Purges) announce(s adminapi.ResponseSelection, hard bool) (carryOut func() (int, bool)) {
	if s.URI.IsValid() {
		purged := p.cache.Purge(s.URI.String(), hard)
		return func() (int, bool) { return purged, true }
	}
	return p.cache.BeginPurge(httpcache.Selection{Key: s.Has, Tag: s.Tag}, hard)
}

func (p *Purges) run() {
	for {
		select {
		case <-p.ended:
			return
		case do := <-p.queue:
			do()
			p.save()
		}
	}
}

// save saves the position, if all purges up to it are done. Otherwise the next purge in the queue saves it.
func (p *Purges) save() {
	if p.config.Save == nil || p.behind.Load() || !p.own.TryLock() {
		return
	}
	defer p.own.Unlock()
	at := p.config.Position()
	if len(p.queue) == 0 {
		p.config.Save(at)
	}
}
