package registry

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"

	"github.com/urnd/urnd/resolver/registry/merkle"
)

// part is a part of the versions of a store.
type part struct {
	first, last Seq
	leaves      []merkle.Hash
	done        chan error
}

// partSize is how many versions are read in one transaction, and how many leaves a reader is ahead.
const partSize = 1 << 16

// counted is what a part adds to a verifier.
type counted struct {
	totals     map[string]*Totals
	keys       int64
	last       sum
	superseded []Seq
	redacted   map[Seq]merkle.Hash
	events     map[Seq]*merkle.Hash
	purged     []Seq
	named      []Seq
	sealed     bool
	unknown    []unknownAlias
	begins     map[Seq]string
}

// unknownAlias is a version that is an alias of what does not know it, as it is where a later version is none.
type unknownAlias struct {
	seq  Seq
	key  Key
	name string // that it is an alias of
}

func newCounted() counted {
	return counted{
		totals: make(map[string]*Totals), redacted: make(map[Seq]merkle.Hash), events: make(map[Seq]*merkle.Hash), begins: make(map[Seq]string),
	}
}

// event notes what a row says that is no version.
func (c *counted) event(tx Tx, row *Row) error {
	if row.isPurged() {
		c.purged = append(c.purged, row.Seq)
		return nil
	}
	if redacted, ok := row.redaction(); ok && 0 < redacted.of && redacted.of < row.Seq {
		c.events[redacted.of] = redacted.digest
		return nil
	}
	purged, ok := row.purge()
	for _, seq := range purged.versions {
		ok = ok && seq > 0 && seq < row.Seq
	}
	if !ok && len(row.Octets) > 0 {
		return row.damaged()
	}
	c.named = append(c.named, purged.versions...)
	for _, kept := range purged.kept {
		set, err := ChangeSetOf(tx, kept.number)
		digest := ""
		if err == nil {
			digest, err = set.digest()
		}
		if err != nil || digest != kept.digest {
			return fmt.Errorf("%w: the change set %d is not as it was written, by what purged its first version", ErrDamaged, kept.number)
		}
	}
	return nil
}

// alias looks whether what a version is an alias of knows it.
func (c *counted) alias(tx Tx, e *Entry) error {
	if e.Alias == "" {
		return nil
	}
	document, err := tx.Document(TableAliases, e.Alias+" "+e.Name)
	if err == nil && document == nil {
		c.unknown = append(c.unknown, unknownAlias{e.Seq, e.Key, e.Alias})
	}
	return err
}

// read reads the versions of a part, and checks each.
func (v *verifier) read(ctx context.Context, p *part) error {
	var found counted
	err := v.store.Read(ctx, func(tx Tx) error {
		p.leaves = make([]merkle.Hash, 0, p.last-p.first+1)
		found = newCounted()
		for next := p.first; next <= p.last; {
			rows, err := tx.Rows(next-1, int(min(verifyPage, p.last-next+1)))
			if err != nil {
				return err
			}
			for i := range rows {
				if rows[i].Seq > p.last {
					break
				}
				if err := v.row(tx, &rows[i], p, &found); err != nil {
					return err
				}
				next = rows[i].Seq + 1
			}
			if len(rows) == 0 || rows[len(rows)-1].Seq > p.last {
				break
			}
		}
		for Seq(len(p.leaves)) <= p.last-p.first {
			p.leaves = append(p.leaves, emptyLeaf())
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.keys += found.keys
	v.last.add(found.last)
	v.sealed = v.sealed || found.sealed
	maps.Copy(v.redacted, found.redacted)
	maps.Copy(v.events, found.events)
	maps.Copy(v.begins, found.begins)
	v.unknown = append(v.unknown, found.unknown...)
	for group, t := range found.totals {
		if v.totals[group] == nil {
			v.totals[group] = new(Totals)
		}
		*v.totals[group] = v.totals[group].Plus(*t)
	}
	v.superseded.add(found.superseded)
	v.purged.add(found.purged)
	v.named.add(found.named)
	return nil
}

// row checks a row, and counts it.
func (v *verifier) row(tx Tx, row *Row, p *part, found *counted) error {
	for p.first+Seq(len(p.leaves)) < row.Seq {
		p.leaves = append(p.leaves, emptyLeaf())
	}
	leaf, damage := row.leaf()
	p.leaves = append(p.leaves, leaf)
	found.sealed = found.sealed || row.isSealed()
	switch {
	case damage != nil:
		v.report(damage.Error())
		return nil
	case !row.IsVersion():
		if err := found.event(tx, row); err != nil {
			v.report(err.Error())
		}
		return nil
	}
	e, err := row.Entry()
	if err != nil {
		v.report(err.Error())
		return nil
	}
	if e.Begins != "" {
		found.begins[e.Seq] = e.Begins
	}
	if e.Redacted {
		found.redacted[e.Seq] = sha256.Sum256(row.Octets)
	}
	before, err := v.before(tx, &e)
	if err != nil {
		return err
	}
	found.last.add(v.seeds.of(e.Key, e.Seq))
	if before.Exists() {
		found.superseded = append(found.superseded, before.Seq)
		found.last.subtract(v.seeds.of(before.Key, before.Seq))
	}
	if e.Version == 1 {
		found.keys++
	}
	if err := found.alias(tx, &e); err != nil {
		return err
	}
	group := groupOf(e.Name)
	if found.totals[group] == nil {
		found.totals[group] = new(Totals)
	}
	found.totals[group].add(&before, -1)
	found.totals[group].add(&e, 1)
	return nil
}

// before returns the version before one, the zero value where it is the first, or something is wrong with it.
func (v *verifier) before(tx Tx, e *Entry) (Entry, error) {
	if e.Version == 1 {
		if e.Prev != 0 {
			v.report(fmt.Sprintf("%s: its version 1 follows number %d", e.Key, e.Prev))
		}
		return Entry{}, nil
	}
	if e.Prev <= 0 || e.Prev >= e.Seq {
		v.report(fmt.Sprintf("%s: number %d is version %d, and the versions before it are missing", e.Key, e.Seq, e.Version))
		return Entry{}, nil
	}
	row, err := rowAt(tx, e.Prev)
	var before Entry
	if err == nil {
		before, err = row.Entry()
	}
	switch {
	case errors.Is(err, ErrDamaged):
		v.report(fmt.Sprintf("%s: number %d, version %d, follows number %d: %v", e.Key, e.Seq, e.Version, e.Prev, err))
		return Entry{}, nil
	case err != nil:
		return Entry{}, err
	case before.Key != e.Key || before.Version != e.Version-1:
		v.report(fmt.Sprintf("%s: number %d, version %d, follows number %d, which is version %d of %s",
			e.Key, e.Seq, e.Version, e.Prev, before.Version, before.Key))
		return Entry{}, nil
	}
	return before, nil
}
