package registry

import "fmt"

// Rename renames an entry to a key that there is none of: a version of that key follows the last one of the former key, which has no
// current version any more. Its aliases become those of the new name. A history that is followed from the new name has all versions, each
// as it was registered and hashed.
func (b *Batch) Rename(from, to Key, note string) (Entry, error) {
	at, target, err := b.find(to)
	if err != nil {
		return Entry{}, err
	}
	if target.Exists() || from.Kind != to.Kind || from == to {
		return Entry{}, fmt.Errorf("%w: %s cannot be renamed to %s, which there is", ErrConflict, from, to)
	}
	if err := b.Lead(from, to.Name, note); err != nil {
		return Entry{}, err
	}
	left, before, err := b.find(from)
	if err != nil {
		return Entry{}, err
	}
	if !before.Exists() {
		return Entry{}, fmt.Errorf("%w: %s", ErrUnknown, from)
	}
	renamed := *before
	after := Entry{
		Key: to, Former: from.Name, Prev: renamed.Seq, Version: renamed.Version + 1, Changed: b.now, By: b.by, Note: note, Record: renamed.Record,
	}
	b.known[left] = known{&Entry{Key: from}, -1}
	b.known[at].change = len(b.changes)
	b.changes = append(b.changes, Changed{renamed, after})
	b.inside = b.inside || to.Kind == KindPrefix
	return after, nil
}

// Lead makes the aliases of a name those of another one.
func (b *Batch) Lead(from Key, name, note string) error {
	if from.Kind == KindPrefix {
		return nil
	}
	for after := ""; ; {
		page, err := b.tx.Documents(TableAliases, from.Name+" ", after, rowsPage)
		if err != nil {
			return err
		}
		for _, d := range page {
			after = d.Key
			at, e, err := b.find(Name(d.Key[len(from.Name)+1:]))
			if err != nil {
				return err
			}
			if e.Alias != from.Name {
				continue // it was changed in this batch
			}
			record := e.Record
			record.Alias = name
			b.add(at, Entry{Key: e.Key, Changed: b.now, By: b.by, Note: note, Record: record})
		}
		if len(page) < rowsPage {
			return nil
		}
	}
}
