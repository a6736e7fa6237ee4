package stored

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/urnd/urnd/cache/httpcache"
	adminapi "github.com/urnd/urnd/proxy/admin/api"
)

// PurgesConfig is how purges of stored responses reach other processes, and how those of others come. The zero value is that of one process
// alone.
type PurgesConfig struct {
	// Publish tells a purge to the others, before it is done here.
	Publish func(ctx context.Context, s adminapi.ResponseSelection, hard bool)
	// Position returns up to where the purges of others were passed to Follow, and Save saves that, as all of them were carried out.
	Position func() []byte
	Save     func(position []byte)
}

// Purges purges stored responses. It is safe for concurrent use. The caller must close it.
type Purges struct {
	cache  *httpcache.Cache
	config PurgesConfig

	own     sync.RWMutex // held for reading while a purge is published and done
	behind  atomic.Bool  // a purge is not carried out, since the disk fails: no position is saved any more
	queue   chan func()
	ended   chan struct{}
	running sync.WaitGroup
}

// maxPurges is how many purges of others wait to be carried out; they count before.
const maxPurges = 64

// NewPurges returns the purges of a cache.
func NewPurges(cache *httpcache.Cache, config PurgesConfig) *Purges {
	p := &Purges{cache: cache, config: config, queue: make(chan func(), maxPurges), ended: make(chan struct{})}
	if config.Publish != nil {
		p.running.Go(p.run)
	}
	return p
}

// Close ends what runs in the background, and waits for it: what waits is not carried out, and the position not saved.
func (p *Purges) Close() {
	close(p.ended)
	p.running.Wait()
}

// Purge purges a selection, here and in other processes, and returns how many responses there were here.
func (p *Purges) Purge(ctx context.Context, s adminapi.ResponseSelection, hard bool) int {
	if p.config.Publish == nil {
		purged, _ := p.announce(s, hard)()
		return purged
	}
	p.own.RLock()
	p.config.Publish(ctx, s, hard)
	purged := p.carryOut(p.announce(s, hard))
	p.own.RUnlock()
	p.Passed()
	return purged
}

// Follow purges a selection as another process has done. It counts when Follow returns, and is carried out in the background.
func (p *Purges) Follow(s adminapi.ResponseSelection, hard bool) {
	carryOut := p.announce(s, hard)
	p.wait(func() { p.carryOut(carryOut) })
}

// carryOut carries a purge out, and notes where that has failed.
func (p *Purges) carryOut(carryOut func() (int, bool)) int {
	purged, done := carryOut()
	if !done {
		p.behind.Store(true)
	}
	return purged
}

// Passed notes that the position has changed, by what is about no stored response.
func (p *Purges) Passed() { p.wait(func() {}) }

func (p *Purges) wait(do func()) {
	select {
	case p.queue <- do:
	case <-p.ended:
	}
}

// announce makes a purge count, and returns what carries it out.
func (p *Purges) announce(s adminapi.ResponseSelection, hard bool) (carryOut func() (int, bool)) {
	if s.URI.IsValid() {
		purged := p.cache.Purge(s.URI.String(), hard)
		return func() (int, bool) { return purged, true }
	}
	return p.cache.Announce(httpcache.Selection{Key: s.Has, Tag: s.Tag}, hard)
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

// save saves the position, if all is carried out up to there. Otherwise what is still to be carried out does so.
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
