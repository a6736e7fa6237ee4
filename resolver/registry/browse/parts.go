package browse

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// A sitemap has files of at most 50,000 pages, so that all names are in parts: each is the names after a boundary up to the next one. A boundary
// is a name that is open to all. Parts are made by reading all keys, in the background, when a sitemap is asked for and the registry has
// changed, at most once in partsLifetime. A boundary stays while its part is not too large, so that the addresses of files stay.

// Bounds of parts.
const (
	partNames    = 45_000   // less than a file may have, for names that come in between
	partOctets   = 40 << 20 // likewise, estimated
	partKeys     = 1000     // that are read at once
	maxParts     = 50_000   // files of an index, by the protocol
	maxBoundary  = 300      // octets, since an address of a file has two of them
	maxEscaped   = 6        // octets of a page's address for one of a name
	aroundURL    = 200      // octets of a file around a name, about
	partsWait    = 2 * time.Second
	partsRefresh = time.Hour
)

// parts are the boundaries between parts, as far as they are known.
type parts struct {
	mu         sync.Mutex
	boundaries []string
	isWhole    bool // all names were read
	hasLast    bool // there is a name that is open after the last boundary
	isRunning  bool
	made       time.Time
	head       registry.Seq
	done       chan struct{} // closed when the run ends
}

// span is a part: the names after one up to another, "" for the end.
type span struct{ after, upto string }

// spans returns the parts that are known, and makes them where they are not, or not any more: it waits a moment for that.
func (b *Browser) spans(ctx context.Context) ([]span, error) {
	p := &b.parts
	p.mu.Lock()
	if !p.isRunning && (!p.isWhole || b.config.Now().Sub(p.made) >= partsRefresh) {
		if err := b.refresh(ctx); err != nil && !p.isWhole {
			p.mu.Unlock()
			return nil, err
		}
	}
	isWhole, done := p.isWhole, p.done
	p.mu.Unlock()
	if !isWhole {
		timer := time.NewTimer(partsWait)
		defer timer.Stop()
		select {
		case <-done:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]span, 0, len(p.boundaries)+1)
	after := ""
	for _, boundary := range p.boundaries {
		all = append(all, span{after, boundary})
		after = boundary
	}
	if p.isWhole && p.hasLast {
		all = append(all, span{after: after})
	}
	return all, nil
}

// refresh begins to make the parts anew where the registry has changed. The lock is held.
func (b *Browser) refresh(ctx context.Context) error {
	p := &b.parts
	head, err := b.config.Registry.Store().Head(ctx)
	if err != nil {
		return unavailable(err)
	}
	if p.isWhole && head == p.head {
		p.made = b.config.Now()
		return nil
	}
	p.isRunning, p.done = true, make(chan struct{})
	old := slices.Clone(p.boundaries)
	b.config.Background(func(ctx context.Context) {
		made := partition{browser: b, old: old}
		err := made.run(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		defer close(p.done)
		p.isRunning = false
		if err == nil {
			p.boundaries, p.isWhole, p.hasLast, p.made, p.head = made.boundaries, true, made.isOpen, b.config.Now(), head
		}
	})
	return nil
}

// partition is a run over all keys.
type partition struct {
	browser    *Browser
	old        []string
	boundaries []string
	names      int // since the last boundary
	octets     int
	isOpen     bool // one of them is open
}

func (m *partition) run(ctx context.Context) error {
	for after := ""; ; {
		n, last, err := m.page(ctx, after)
		if err != nil || n < partKeys || len(m.boundaries) == maxParts-1 {
			return err
		}
		after = last
	}
}

// page reads the next keys, and returns how many there were, and the last one.
func (m *partition) page(ctx context.Context, after string) (n int, last string, err error) {
	err = m.browser.config.Registry.Store().Read(ctx, func(tx registry.Tx) error {
		changes, err := tx.Current(registry.KindName, after, partKeys)
		if err != nil {
			return err
		}
		n = len(changes)
		keys := make([]registry.Key, n)
		for i := range changes {
			keys[i] = changes[i].Key
		}
		if n > 0 {
			last = keys[n-1].Name
		}
		return m.take(tx, keys)
	})
	return n, last, err
}

// take counts keys, and makes boundaries of those where a part is to end.
func (m *partition) take(tx registry.Tx, keys []registry.Key) error {
	isFull := m.names+len(keys) > partNames || m.octets > partOctets
	isKept := len(m.old) > 0 && len(keys) > 0 && m.old[0] <= keys[len(keys)-1].Name
	if m.isOpen && !isFull && !isKept {
		m.count(keys)
		return nil
	}
	entries, err := tx.Entries(keys)
	if err != nil {
		return err
	}
	m.count(keys)
	opens := make([]bool, len(keys))
	for i := range entries {
		opens[i] = entries[i].IsOpen()
	}
	m.isOpen = m.isOpen || slices.Contains(opens, true)
	lastOpen := m.keep(keys, opens)
	if isFull = m.names > partNames || m.octets > partOctets; isFull && lastOpen >= 0 {
		m.end(keys, opens, lastOpen)
	}
	return nil
}

// keep ends parts with keys that were boundaries before, and returns the last key after them that may be one, -1 for none.
func (m *partition) keep(keys []registry.Key, opens []bool) (lastOpen int) {
	lastOpen = -1
	for i := range keys {
		if opens[i] && len(keys[i].Name) <= maxBoundary {
			lastOpen = i
		}
		if m.isBoundary(keys[i].Name) && opens[i] {
			m.end(keys, opens, i)
			lastOpen = -1
		}
	}
	return lastOpen
}

// isBoundary reports whether a key was a boundary before.
func (m *partition) isBoundary(name string) bool {
	for len(m.old) > 0 && m.old[0] < name { // it is no name any more
		m.old = m.old[1:]
	}
	is := len(m.old) > 0 && m.old[0] == name
	if is {
		m.old = m.old[1:]
	}
	return is
}

// end ends a part with a key; those after it are of the next one.
func (m *partition) end(keys []registry.Key, opens []bool, i int) {
	m.boundaries = append(m.boundaries, strings.Clone(keys[i].Name))
	m.names, m.octets = 0, 0
	m.isOpen = slices.Contains(opens[i+1:], true)
	m.count(keys[i+1:])
	if p := &m.browser.parts; len(m.old) == 0 { // what is known is shown while the rest is read for the first time
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.isWhole {
			p.boundaries = slices.Clone(m.boundaries)
		}
	}
}

func (m *partition) count(keys []registry.Key) {
	m.names += len(keys)
	for i := range keys {
		m.octets += maxEscaped*len(keys[i].Name) + aroundURL
	}
}
