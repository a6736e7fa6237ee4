package lint

import (
	"context"
	"hash/maphash"

	"github.com/urnd/urnd/resolver/registry"
)

// shared finds names with the same only target in bounded memory: a Bloom filter finds targets that probably
// occur twice, and a second pass compares those.
type shared struct {
	seeds [2]maphash.Seed
	bits  []uint64
	// twice has the hashes of targets that probably occur twice; the second pass adds the first name of each.
	twice map[uint64]first
	full  bool
}

type first struct{ name, target string }

// The size of the Bloom filter in bits: per name, minimum and maximum.
const (
	bitsPerName = 16
	leastBits   = 1 << 16
	mostBits    = 1 << 30
)

// maxTwice bounds the targets that the second pass compares.
const maxTwice = 200_000

// prepareShared creates the filter for the current number of names.
func (l *linter) prepareShared(ctx context.Context) error {
	var names int64
	err := l.Registry.Store().Read(ctx, func(tx registry.Tx) error {
		totals, err := tx.Totals()
		for _, t := range totals {
			names += t.Active
		}
		return err
	})
	bits := min(max(names*bitsPerName, leastBits), mostBits)
	l.shared = &shared{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		bits:  make([]uint64, bits/64), twice: make(map[uint64]first),
	}
	return err
}

// onlyTarget returns the only target of a name, "" if it has none or several.
func onlyTarget(e registry.Entry) string {
	if e.Kind == registry.KindPrefix || e.Status != registry.Active || len(e.Targets) != 1 {
		return ""
	}
	return e.Targets[0].URI
}

// add adds the only target of an entry to the filter.
func (s *shared) add(e registry.Entry) {
	target := onlyTarget(e)
	if target == "" {
		return
	}
	before := true
	for _, seed := range s.seeds {
		at := maphash.String(seed, target) % uint64(64*len(s.bits))
		before = before && s.bits[at/64]&(1<<(at%64)) != 0
		s.bits[at/64] |= 1 << (at % 64)
	}
	if !before {
		return
	}
	if len(s.twice) >= maxTwice {
		s.full = true
		return
	}
	s.twice[maphash.String(s.seeds[0], target)] = first{}
}

// nameShared adds a finding for each name whose only target an earlier name has too.
func (l *linter) nameShared(entries []registry.Entry) {
	l.summary.SharedLeftOut = l.shared.full
	for _, e := range entries {
		target := onlyTarget(e)
		if target == "" {
			continue
		}
		hash := maphash.String(l.shared.seeds[0], target)
		switch before, ok := l.shared.twice[hash]; {
		case !ok:
		case before.name == "":
			l.shared.twice[hash] = first{e.Name, target}
		case before.target == target:
			l.add(e, Hint, ruleShared, "only target "+target+" is also that of "+before.name)
		}
	}
}
