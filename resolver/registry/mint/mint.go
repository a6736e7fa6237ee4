// Package mint reserves the next free names of a pattern in a registry: counted or random ones, with check characters
// at their ends. Who registers them is told to the registry, which knows nothing of patterns.
package mint

import (
	"context"
	"fmt"
	"math"

	"github.com/urnd/urnd/resolver/registry"
)

// Request says which names are minted.
type Request struct {
	// Pattern is what the names look like: a URI with {counter}, {counter:DIGITS}, with zeros before it, or
	// {random:CHARACTERS}, without vowels and l. At its end may be {check}, the check character of NOID over the
	// NSS of a URN, the NAAN and name of an ARK, or the path of another URI; or {nbn}, the check digit of
	// URN:NBN:de. Or it is noid: and a template of NOID. In namespaces with numbers of a fixed length (see
	// registry.Config.CheckDigits) it is the digits of a range, and {counter}.
	Pattern string
	N       int // how many names: 1 to Max
	// From is the number that the counter goes on with, nil where it is. Names that are there already are
	// skipped in any case. Not for random names.
	From *uint64
	Note string // why
}

// Max is how many names are minted at once at most.
const Max = 10_000

const (
	page = 1000
	// maxTaken bounds how many names that are there already are skipped.
	maxTaken = 20_000
)

// Minter mints in a registry. It is safe for concurrent use.
type Minter struct{ registry *registry.Registry }

// New returns what mints in a registry.
func New(r *registry.Registry) *Minter { return &Minter{r} }

// Mint registers the next free names of a pattern as reserved, and returns them. No name is returned twice,
// by any number of instances with one store: the counter moves on in the same transaction. Errors
// about the pattern wrap registry.ErrInvalid; registry.ErrExhausted means that not as many names are free.
func (m *Minter) Mint(ctx context.Context, actor registry.Actor, asked Request) ([]string, error) {
	var minted []string
	change, err := m.change(actor, asked, &minted)
	if err != nil {
		return nil, err
	}
	if _, err = m.registry.Change(ctx, actor, change); err != nil {
		return nil, fmt.Errorf("minting names: %w", err)
	}
	return minted, nil
}

// Preview returns what Mint would register, and registers nothing; random names are other ones each time.
func (m *Minter) Preview(ctx context.Context, actor registry.Actor, asked Request) (changes []registry.Changed, err error) {
	var minted []string
	change, err := m.change(actor, asked, &minted)
	if err != nil {
		return nil, err
	}
	if changes, err = m.registry.PreviewChange(ctx, actor, change); err != nil {
		return nil, fmt.Errorf("minting names: %w", err)
	}
	return changes, nil
}

// change returns what registers names in a transaction, and sets minted.
func (m *Minter) change(actor registry.Actor, asked Request, minted *[]string) (func(registry.WriteTx, *registry.Batch) error, error) {
	p, err := parsePattern(asked.Pattern, m.registry.CheckDigits())
	if err != nil {
		return nil, err
	}
	switch {
	case asked.N < 1 || asked.N > Max:
		return nil, fmt.Errorf("%w: 1 to %d names can be minted at once, not %d", registry.ErrInvalid, Max, asked.N)
	case p.random && asked.From != nil:
		return nil, invalidPattern("mint_random_from", asked.Pattern, "random names have no number to begin from")
	}
	return func(tx registry.WriteTx, batch *registry.Batch) error {
		s := minting{Request: asked, registry: m.registry, actor: actor, pattern: p, tx: tx, batch: batch, seen: make(map[string]bool)}
		mint := s.count
		if p.random {
			mint = s.draw
		}
		err := mint()
		*minted = s.minted
		return err
	}, nil
}

// minting is what is minted within one transaction.
type minting struct {
	Request
	registry *registry.Registry
	actor    registry.Actor
	pattern  pattern
	tx       registry.WriteTx
	batch    *registry.Batch
	minted   []string
	seen     map[string]bool
	taken    int // how many names were there already
}

// count mints by the counter of the pattern.
func (m *minting) count() error {
	next, err := m.next()
	if err != nil {
		return err
	}
	size := m.pattern.size()
	for len(m.minted) < m.N {
		if m.taken >= maxTaken {
			return fmt.Errorf("%w: the %d names before number %d of %q are all registered already: begin from a greater number",
				registry.ErrExhausted, m.taken, next, m.Pattern)
		}
		first := next
		var names []string
		for len(names) < min(m.N-len(m.minted)+m.taken, page) && next < size {
			name, err := m.pattern.counted(next)
			if err != nil {
				return err
			}
			names = append(names, name)
			next++
		}
		if len(names) == 0 {
			return fmt.Errorf("%w: of the %d names of %q only %d are free from its counter on, and none was minted",
				registry.ErrExhausted, size, m.Pattern, len(m.minted))
		}
		used, err := m.reserve(names)
		if err != nil {
			return err
		}
		next = first + uint64(used) //nolint:gosec // it is a number of names
	}
	return m.tx.SetMintCounter(m.Pattern, next)
}

// next returns the number that the counter goes on with.
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

// draw mints random names. It gives up where hardly any is free.
func (m *minting) draw() error {
	drawn := 0
	for len(m.minted) < m.N {
		missing := m.N - len(m.minted)
		if m.taken > 10*m.N+page {
			return fmt.Errorf("%w: of %d random names of %q only %d were free: nearly all of its %.3g names are registered, "+
				"so use one with more characters", registry.ErrExhausted, drawn, m.Pattern, len(m.minted), m.names())
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

// names returns about how many names the pattern has.
func (m *minting) names() float64 {
	n := 1.0
	for i := range len(m.pattern.mask) {
		n *= float64(len(alphabetOf(m.pattern.mask[i])))
	}
	return math.Round(n)
}

// reserve reserves those of some names that are free, until there are enough. It returns how many it
// has looked at.
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
		if len(m.minted) == m.N {
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
		return registry.Key{}, invalidPattern("mint_name", m.Pattern, "it makes %q: %v", name, err).With("Pattern", m.Pattern, "Value", name)
	}
	if m.pattern.check == ofNOID && key.Name != name {
		return registry.Key{}, invalidPattern("mint_not_canonical", m.Pattern,
			"write it as names are in their canonical form, which its check character is of: it makes %q, and that is %q", name, key.Name).
			With("Pattern", m.Pattern, "Value", name, "Name", key.Name)
	}
	if err := m.registry.CheckChange(registry.Entry{}, key, registry.Record{Status: registry.Reserved}, false); err != nil {
		return registry.Key{}, err
	}
	return key, m.actor.May(registry.Writer, key)
}
