package registry

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Totals are how many entries there are of a namespace or scheme.
type Totals struct {
	Active    int64 `json:"active"`
	Reserved  int64 `json:"reserved"`
	Withdrawn int64 `json:"withdrawn"`
	Aliases   int64 `json:"aliases"` // among those
	Targets   int64 `json:"targets"`
	Prefixes  int64 `json:"prefixes"`
}

// add counts an entry n times.
func (t *Totals) add(e *Entry, n int64) {
	if !e.Exists() {
		return
	}
	if e.Kind == KindPrefix {
		t.Prefixes += n
		return
	}
	switch e.Status {
	case Active:
		t.Active += n
	case Reserved:
		t.Reserved += n
	case Withdrawn:
		t.Withdrawn += n
	}
	if e.Alias != "" {
		t.Aliases += n
	}
	t.Targets += n * int64(len(e.Targets))
}

// Plus returns the sums of two Totals.
func (t Totals) Plus(other Totals) Totals {
	t.Active += other.Active
	t.Reserved += other.Reserved
	t.Withdrawn += other.Withdrawn
	t.Aliases += other.Aliases
	t.Targets += other.Targets
	t.Prefixes += other.Prefixes
	return t
}

// Count counts an entry.
func (t *Totals) Count(e *Entry) { t.add(e, 1) }

// groupOf returns the namespace or scheme of a name: "urn:nbn", "https".
func groupOf(name string) string {
	scheme, rest, _ := strings.Cut(name, ":")
	if scheme != "urn" {
		return scheme
	}
	nid, _, _ := strings.Cut(rest, ":")
	return scheme + ":" + nid
}

// derive changes what follows from entries: totals, and which aliases a name has.
func (b *Batch) derive(changes []Changed, removed []Entry) error {
	totals := make(map[string]*Totals)
	var aliases []Document
	count := func(before, after *Entry) {
		group := groupOf(after.Name)
		t := totals[group]
		if t == nil {
			t = new(Totals)
			totals[group] = t
		}
		t.add(before, -1)
		t.add(after, 1)
		if before.Alias != after.Alias {
			if before.Alias != "" {
				aliases = append(aliases, Document{Key: before.Alias + " " + after.Name})
			}
			if after.Alias != "" {
				aliases = append(aliases, Document{Key: after.Alias + " " + after.Name, Value: []byte{}})
			}
		}
	}
	for i := range changes {
		before, after := &changes[i].Before, &changes[i].After
		if after.Former != "" {
			count(before, &Entry{Key: after.keyBefore()})
			before = &Entry{}
		}
		count(before, after)
	}
	for i := range removed {
		count(&removed[i], &Entry{Key: removed[i].Key})
	}
	if len(aliases) > 0 {
		if err := b.tx.Put(TableAliases, aliases); err != nil {
			return err
		}
	}
	return addTotals(b.tx, totals)
}

// addTotals adds to the totals that are stored.
func addTotals(tx WriteTx, added map[string]*Totals) error {
	var documents []Document
	for group, t := range added {
		if *t == (Totals{}) {
			continue
		}
		value, err := tx.Document(TableTotals, group)
		if err != nil {
			return err
		}
		var sum Totals
		if value != nil {
			if err := json.Unmarshal(value, &sum); err != nil {
				return fmt.Errorf("%w: the totals of %s: %w", ErrDamaged, group, err)
			}
		}
		text, err := json.Marshal(sum.Plus(*t))
		if err != nil {
			return fmt.Errorf("writing the totals of %s: %w", group, err)
		}
		documents = append(documents, Document{Key: group, Value: text})
	}
	if len(documents) == 0 {
		return nil
	}
	return tx.Put(TableTotals, documents)
}

// TotalsOf returns the totals by namespace or scheme.
func TotalsOf(tx Tx) (map[string]Totals, error) {
	documents, err := tx.Documents(TableTotals, "", "", maxGroups)
	if err != nil {
		return nil, err
	}
	all := make(map[string]Totals, len(documents))
	for _, d := range documents {
		var t Totals
		if err := json.Unmarshal(d.Value, &t); err != nil {
			return nil, fmt.Errorf("%w: the totals of %s: %w", ErrDamaged, d.Key, err)
		}
		all[d.Key] = t
	}
	return all, nil
}

// maxGroups bounds how many namespaces and schemes are counted apart.
const maxGroups = 100_000

// AliasesOf returns at most limit aliases of a canonical name.
func AliasesOf(tx Tx, name string, limit int) ([]string, error) {
	documents, err := tx.Documents(TableAliases, name+" ", "", limit)
	if err != nil {
		return nil, err
	}
	aliases := make([]string, len(documents))
	for i, d := range documents {
		aliases[i] = strings.TrimPrefix(d.Key, name+" ")
	}
	return aliases, nil
}
