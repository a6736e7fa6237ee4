package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
)

// Minting says which names are minted.
type Minting struct {
	// Pattern is what the names look like: a URI with {counter}, {counter:DIGITS}, with zeros before it, or
	// {random:CHARACTERS}, without vowels and l. At its end may be {check}, the check character of NOID over the
	// NSS of a URN, the NAAN and name of an ARK, or the path of another URI; or {nbn}, the check digit of
	// URN:NBN:de. Or it is noid: and a template of NOID. In namespaces with numbers of a fixed length (see
	// Config.CheckDigits) it is the digits of a range, and {counter}.
	Pattern string
	N       int // how many names: 1 to MaxMint
	// From is the number that the counter goes on with, nil where it is. Names that are there already are
	// skipped in any case. Not for random names.
	From *uint64
	Note string // why
}

// MaxMint is how many names are minted at once at most.
const MaxMint = 10_000

const (
	mintPage = 1000
	// maxTaken bounds how many names that are there already are skipped.
	maxTaken = 20_000
)

// Mint registers the next free names of a pattern as reserved, and returns them. No name is returned twice,
// by any number of instances with one store: the counter moves on in the same transaction. Errors
// about the pattern wrap ErrInvalid; ErrExhausted means that not as many names are free.
func (r *Registry) Mint(ctx context.Context, actor Actor, m Minting) ([]string, error) {
	p, err := parsePattern(m.Pattern, r.config.CheckDigits)
	if err != nil {
		return nil, err
	}
	switch {
	case m.N < 1 || m.N > MaxMint:
		return nil, fmt.Errorf("%w: 1 to %d names can be minted at once, not %d", ErrInvalid, MaxMint, m.N)
	case p.random && m.From != nil:
		return nil, invalidPattern(m.Pattern, "random names have no number to begin from")
	}
	var minted []string
	var changes []Changed
	err = r.config.Store.Write(ctx, func(tx WriteTx) error {
		s := minter{r: r, actor: actor, pattern: p, Minting: m, tx: tx, batch: NewBatch(tx, actor.Name, r.Now()), seen: make(map[string]bool)}
		var err error
		if p.random {
			err = s.draw()
		} else {
			err = s.count()
		}
		if err != nil {
			return err
		}
		minted = s.minted
		changes, err = s.batch.Flush()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("minting names: %w", err)
	}
	if r.config.Audit != nil {
		r.config.Audit(ctx, actor, changes)
	}
	return minted, nil
}

// minter mints within one transaction.
type minter struct {
	Minting
	r       *Registry
	actor   Actor
	pattern pattern
	tx      WriteTx
	batch   *Batch
	minted  []string
	seen    map[string]bool
	taken   int // how many names were there already
}

// mintCounter is the document of a counter, by its pattern.
type mintCounter struct {
	Next uint64 `json:"next"`
}

// count mints by the counter of the pattern.
func (m *minter) count() error {
	counter, err := m.counter()
	if err != nil {
		return err
	}
	size := m.pattern.size()
	for len(m.minted) < m.N {
		if m.taken >= maxTaken {
			return fmt.Errorf("%w: the %d names before number %d of %q are all registered already: begin from a greater number",
				ErrExhausted, m.taken, counter.Next, m.Pattern)
		}
		first := counter.Next
		var names []string
		for len(names) < min(m.N-len(m.minted)+m.taken, mintPage) && counter.Next < size {
			name, err := m.pattern.counted(counter.Next)
			if err != nil {
				return err
			}
			names = append(names, name)
			counter.Next++
		}
		if len(names) == 0 {
			return fmt.Errorf("%w: of the %d names of %q only %d are free from its counter on, and none was minted",
				ErrExhausted, size, m.Pattern, len(m.minted))
		}
		used, err := m.reserve(names)
		if err != nil {
			return err
		}
		counter.Next = first + uint64(used) //nolint:gosec // it is a number of names
	}
	value, err := json.Marshal(counter)
	if err != nil {
		return fmt.Errorf("writing the counter of %q: %w", m.Pattern, err)
	}
	return m.tx.Put(TableMints, []Document{{Key: m.Pattern, Value: value}})
}

// counter returns the counter of the pattern.
func (m *minter) counter() (mintCounter, error) {
	counter := mintCounter{m.pattern.first}
	if m.From != nil {
		return mintCounter{*m.From}, nil
	}
	value, err := m.tx.Document(TableMints, m.Pattern)
	if err != nil || value == nil {
		return counter, err
	}
	if err := json.Unmarshal(value, &counter); err != nil {
		return counter, fmt.Errorf("%w: the counter of %q: %w", ErrDamaged, m.Pattern, err)
	}
	return counter, nil
}

// draw mints random names. It gives up where hardly any is free.
func (m *minter) draw() error {
	drawn := 0
	for len(m.minted) < m.N {
		missing := m.N - len(m.minted)
		if m.taken > 10*m.N+mintPage {
			return fmt.Errorf("%w: of %d random names of %q only %d were free: nearly all of its %.3g names are registered, so use one with more characters",
				ErrExhausted, drawn, m.Pattern, len(m.minted), m.names())
		}
		names := make([]string, min(missing, mintPage))
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
func (m *minter) names() float64 {
	n := 1.0
	for i := range len(m.pattern.mask) {
		n *= float64(len(alphabetOf(m.pattern.mask[i])))
	}
	return math.Round(n)
}

// reserve reserves those of some names that are free, until there are enough. It returns how many it
// has looked at.
func (m *minter) reserve(names []string) (int, error) {
	keys := make([]Key, len(names))
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
		if _, _, err := m.batch.Put(key, Record{Status: Reserved}, m.Note); err != nil {
			return 0, err
		}
		m.minted = append(m.minted, key.Name)
	}
	return len(keys), nil
}

// key returns the canonical key of a name, if the actor may register it.
func (m *minter) key(name string) (Key, error) {
	key, err := m.r.CanonicalKey(Name(name))
	if err != nil {
		return Key{}, invalidPattern(m.Pattern, "it makes %q: %v", name, err)
	}
	if m.pattern.check == ofNOID && key.Name != name {
		return Key{}, invalidPattern(m.Pattern, "write it as names are in their canonical form, which its check character is of: it makes %q, and that is %q", name, key.Name)
	}
	if err := m.r.CheckAsked(Entry{}, key); err != nil {
		return Key{}, err
	}
	return key, m.actor.May(Writer, key)
}
