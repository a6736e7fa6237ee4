// Package mint reserves the next free names of a pattern in a registry: counted or random names, optionally
// with a check character. A Request with a pattern and a number of names enters, and the reserved names
// leave; the registry itself knows nothing of patterns. Check characters are those of NOID and URN:NBN:de,
// and names are URIs (RFC 3986) such as URNs (RFC 8141).
package mint

import (
	"context"
	"fmt"
	"math"

	"github.com/urnd/urnd/resolver/registry"
)

// Request describes the names to mint.
type Request struct {
	// Pattern is a URI with {counter}, {counter:DIGITS}, which is padded with zeros, or {random:CHARACTERS},
	// without vowels and l. It may end with {check}, the check character of NOID over the NSS of a URN, the
	// NAAN and name of an ARK, or the path of another URI; or with {nbn}, the check digit of URN:NBN:de.
	// Alternatively it is "noid:" and a template of NOID. In namespaces with numbers of a fixed length (see
	// registry.Config.CheckDigits) it is the digits of a range, and {counter}.
	Pattern string
	Count   int // number of names, 1 to Max
	// From sets the counter, nil continues it. Registered names are skipped in any case. It must be nil for
	// random names.
	From *uint64
	Note string // of the versions
}

// Max bounds the names of one request.
const Max = 10_000

const (
	page = 1000
	// maxTaken bounds the registered names that a request for counted names skips.
	maxTaken = 20_000
)

// Minter mints names in a registry. It is safe for concurrent use.
type Minter struct{ registry *registry.Registry }

// New returns a Minter for a registry.
func New(r *registry.Registry) *Minter { return &Minter{r} }

// Mint registers the next free names of a pattern as reserved, and returns them. No name is returned twice,
// by any number of instances with one store: the counter advances in the same transaction. Errors about the
// pattern wrap registry.ErrInvalid; registry.ErrExhausted means that there are not enough free names.
func (m *Minter) Mint(ctx context.Context, actor registry.Actor, requested Request) ([]string, error) {
	var minted []string
	change, err := m.change(actor, requested, &minted)
	if err != nil {
		return nil, err
	}
	if _, err = m.registry.Change(ctx, actor, change); err != nil {
		return nil, fmt.Errorf("minting names: %w", err)
	}
	return minted, nil
}

// Preview returns the changes that Mint would make, without making them; random names differ in each call.
func (m *Minter) Preview(
	ctx context.Context, actor registry.Actor, requested Request,
) (changes []registry.Changed, err error) {
	var minted []string
	change, err := m.change(actor, requested, &minted)
	if err != nil {
		return nil, err
	}
	if changes, err = m.registry.PreviewChange(ctx, actor, change); err != nil {
		return nil, fmt.Errorf("minting names: %w", err)
	}
	return changes, nil
}

// change returns a function that registers names in a transaction, and sets minted.
func (m *Minter) change(
	actor registry.Actor, requested Request, minted *[]string,
) (func(registry.WriteTx, *registry.Batch) error, error) {
	p, err := parsePattern(requested.Pattern, m.registry.CheckDigits())
	if err != nil {
		return nil, err
	}
	switch {
	case requested.Count < 1 || requested.Count > Max:
		return nil, fmt.Errorf("%w: number of names must be 1 to %d, not %d", registry.ErrInvalid, Max, requested.Count)
	case p.random && requested.From != nil:
		return nil, invalidPattern("mint_random_from", requested.Pattern, "random patterns have no first number")
	}
	return func(tx registry.WriteTx, batch *registry.Batch) error {
		s := minting{
			Request: requested, registry: m.registry, actor: actor, pattern: p, tx: tx, batch: batch,
			seen: make(map[string]bool),
		}
		mint := s.count
		if p.random {
			mint = s.draw
		}
		err := mint()
		*minted = s.minted
		return err
	}, nil
}

// minting is the state of a request within one transaction.
type minting struct {
	Request
	registry *registry.Registry
	actor    registry.Actor
	pattern  pattern
	tx       registry.WriteTx
	batch    *registry.Batch
	minted   []string
	seen     map[string]bool
	taken    int // number of names that were registered already
}

// count mints names by the counter of the pattern.
func (m *minting) count() error {
	next, err := m.next()
	if err != nil {
		return err
	}
	size := m.pattern.size()
	for len(m.minted) < m.Count {
		if m.taken >= maxTaken {
			return fmt.Errorf("%w: the %d names before number %d of %q are all registered: start from a greater number",
				registry.ErrExhausted, m.taken, next, m.Pattern)
		}
		first := next
		var names []string
		for len(names) < min(m.Count-len(m.minted)+m.taken, page) && next < size {
			name, err := m.pattern.counted(next)
			if err != nil {
				return err
			}
			names = append(names, name)
			next++
		}
		if len(names) == 0 {
			return fmt.Errorf("%w: %[3]q has only %[4]d free names of %[2]d from its counter on: none was minted",
				registry.ErrExhausted, size, m.Pattern, len(m.minted))
		}
		used, err := m.reserve(names)
		if err != nil {
			return err
		}
		next = first + uint64(used) //nolint:gosec // a number of names
	}
	return m.tx.SetMintCounter(m.Pattern, next)
}

// next returns the next number of the counter.
func (m *minting) next() (uint64, error) {
	if m.From != nil {
		return *m.From, nil
	}
	next, ok, err := m.tx.MintCounter(m.Pattern)
	if !ok {
		next = m.pattern.first
	}
	return next, err
}

// draw mints random names. It fails if hardly any name is free.
func (m *minting) draw() error {
	drawn := 0
	for len(m.minted) < m.Count {
		missing := m.Count - len(m.minted)
		if m.taken > 10*m.Count+page {
			return fmt.Errorf("%w: only %[4]d of %[2]d random names of %[3]q were free: nearly all of its %.3[5]g "+
				"names are registered, "+
				"use a pattern with more characters", registry.ErrExhausted, drawn, m.Pattern, len(m.minted), m.names())
		}
		names := make([]string, min(missing, page))
		for i := range names {
			var err error
			if names[i], err = m.pattern.drawn(); err != nil {
				return err
			}
		}
		drawn += len(names)
		if _, err := m.reserve(names); err != nil {
			return err
		}
	}
	return nil
}

// names returns the approximate number of names of the pattern.
func (m *minting) names() float64 {
	n := 1.0
	for i := range len(m.pattern.mask) {
		n *= float64(len(alphabetOf(m.pattern.mask[i])))
	}
	return math.Round(n)
}

// reserve reserves the free ones of some names, until there are enough. It returns how many names it has
// processed.
func (m *minting) reserve(names []string) (int, error) {
	keys := make([]registry.Key, len(names))
	for i, name := range names {
		key, err := m.key(name)
		if err != nil {
			return 0, err
		}
		keys[i] = key
	}
	if err := m.batch.Load(keys); err != nil {
		return 0, err
	}
	for i, key := range keys {
		if len(m.minted) == m.Count {
			return i, nil
		}
		if m.seen[key.Name] {
			m.taken++
			continue
		}
		m.seen[key.Name] = true
		before, err := m.batch.Get(key)
		if err != nil {
			return 0, err
		}
		if before.Exists() {
			m.taken++
			continue
		}
		if _, _, err := m.batch.Put(key, registry.Record{Status: registry.Reserved}, m.Note); err != nil {
			return 0, err
		}
		m.minted = append(m.minted, key.Name)
	}
	return len(keys), nil
}

// key returns the canonical key of a name, if the actor may register it.
func (m *minting) key(name string) (registry.Key, error) {
	key, err := m.registry.CanonicalKey(registry.Name(name))
	if err != nil {
		return registry.Key{}, invalidPattern("mint_name", m.Pattern, "invalid result %q: %v", name,
			err).With("Pattern", m.Pattern, "Value", name)
	}
	if m.pattern.check == ofNOID && key.Name != name {
		return registry.Key{}, invalidPattern("mint_not_canonical", m.Pattern,
			"use the canonical form, which the check character applies to: %q is %q in canonical form", name, key.Name).
			With("Pattern", m.Pattern, "Value", name, "Name", key.Name)
	}
	if err := m.registry.CheckChange(registry.Entry{}, key, registry.Record{Status: registry.Reserved},
		false); err != nil {
		return registry.Key{}, err
	}
	return key, m.actor.CheckRole(registry.Writer, key)
}
