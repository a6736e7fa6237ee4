package browse

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// A sitemap file has at most 50,000 URLs, so the names are divided into parts: each part is the names after
// one boundary up to and including the next. A boundary is a public name. The parts are computed by reading
// all keys, in the background, when a sitemap is requested and the registry has changed, at most once per
// partsRefresh. A boundary persists unless its part gets too large, so that the URLs of files are stable.

// Limits of parts.
const (
	partNames    = 45_000   // less than a file may have, which leaves room for new names
	partBytes    = 40 << 20 // bytes, estimated, which also leaves room for new names
	partKeys     = 1000     // keys in one batch
	maxParts     = 50_000   // files of an index, by the protocol
	maxBoundary  = 300      // bytes, since the URL of a file contains two boundaries
	maxEscaped   = 6        // bytes of a page's URL per byte of a name
	aroundURL    = 200      // approximate bytes of a file per name, without the name
	partsWait    = 2 * time.Second
	partsRefresh = time.Hour
)

// parts are the known boundaries between parts.
type parts struct {
	mu         sync.Mutex
	boundaries []string
	whole      bool // all names were read
	hasLast    bool // there is a public name after the last boundary
	running    bool
	made       time.Time
	head       registry.Seq
	done       chan struct{} // closed when the run ends
}

// span is a part: the names after one name up to another, "" for the end.
type span struct{ after, upto string }

// spans returns the known parts. If they are missing or outdated it starts computing them, and waits a moment
// for missing ones.
func (b *Browser) spans(ctx context.Context) ([]span, error) {
	p := &b.parts
	p.mu.Lock()
	if !p.running && (!p.whole || b.config.Now().Sub(p.made) >= partsRefresh) {
		if err := b.refresh(ctx); err != nil && !p.whole {
			p.mu.Unlock()
			return nil, err
		}
	}
	whole, done := p.whole, p.done
	p.mu.Unlock()
	if !whole {
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
	if p.whole && p.hasLast {
		all = append(all, span{after: after})
	}
	return all, nil
}

// refresh starts computing the parts again if the registry has changed. p.mu must be held.
func (b *Browser) refresh(ctx context.Context) error {
	p := &b.parts
	head, err := b.config.Registry.Store().Head(ctx)
	if err != nil {
		return unavailable(err)
	}
	if p.whole && head == p.head {
		p.made = b.config.Now()
		return nil
	}
	p.running, p.done = true, make(chan struct{})
	old := slices.Clone(p.boundaries)
	b.config.Background(func(ctx context.Context) {
		made := partition{browser: b, old: old}
		err := made.run(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		defer close(p.done)
		p.running = false
		if err == nil {
			p.boundaries, p.whole, p.hasLast, p.made, p.head = made.boundaries, true, made.open, b.config.Now(), head
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
	bytes      int
	open       bool // one of them is public
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

// page reads the next keys, and returns their number and the last one.
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

// take counts keys, and adds boundaries where a part ends.
func (m *partition) take(tx registry.Tx, keys []registry.Key) error {
	isFull := m.names+len(keys) > partNames || m.bytes > partBytes
	kept := len(m.old) > 0 && len(keys) > 0 && m.old[0] <= keys[len(keys)-1].Name
	if m.open && !isFull && !kept {
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
		opens[i] = entries[i].Public()
	}
	m.open = m.open || slices.Contains(opens, true)
	lastOpen := m.keep(keys, opens)
	if isFull = m.names > partNames || m.bytes > partBytes; isFull && lastOpen >= 0 {
		m.end(keys, opens, lastOpen)
	}
	return nil
}

// keep ends parts at keys that were boundaries before. It returns the index of the last possible boundary
// after them, -1 for none.
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
	for len(m.old) > 0 && m.old[0] < name { // it does not exist any more
		m.old = m.old[1:]
	}
	is := len(m.old) > 0 && m.old[0] == name
	if is {
		m.old = m.old[1:]
	}
	return is
}

// end ends a part with a key; the keys after it belong to the next part.
func (m *partition) end(keys []registry.Key, opens []bool, i int) {
	m.boundaries = append(m.boundaries, strings.Clone(keys[i].Name))
	m.names, m.bytes = 0, 0
	m.open = slices.Contains(opens[i+1:], true)
	m.count(keys[i+1:])
	if p := &m.browser.parts; len(m.old) == 0 { // publish boundaries during the first run
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.whole {
			p.boundaries = slices.Clone(m.boundaries)
		}
	}
}

func (m *partition) count(keys []registry.Key) {
	m.names += len(keys)
	for i := range keys {
		m.bytes += maxEscaped*len(keys[i].Name) + aroundURL
	}
}
