package registry

import (
	"errors"
	"fmt"
	"time"
)

// Batch collects the changes of entries within one transaction; Flush writes them in one batch. It is not safe
// for concurrent use.
type Batch struct {
	tx  WriteTx
	by  string
	now time.Time

	index    map[Key]int32 // index in known
	known    []loadedKey
	changes  []Changed
	removed  []Entry
	aliases  map[string][]string  // the names that became aliases, by what they are an alias of
	inside   bool                 // whether a prefix is among the changes
	enclosed map[string]enclosure // by EnclosingPrefix of the name
	set      ChangeSet
	prefixes int // whether the store has prefixes: 0 unknown, 1 yes, -1 no
}

// enclosure is the longest stored prefix of some names.
type enclosure struct {
	length  int // of the prefix's name, 0 if there is none
	sandbox bool
}

// loadedKey is a key whose entry was loaded.
type loadedKey struct {
	before *Entry // the stored entry
	change int    // index of its last change in changes, -1 for none
}

// NewBatch returns a Batch within a transaction. by and now become the author and time of its changes.
func NewBatch(tx WriteTx, by string, now time.Time) *Batch {
	return &Batch{
		tx: tx, by: by, now: now, set: ChangeSet{By: by, Time: now},
		enclosed: make(map[string]enclosure), aliases: make(map[string][]string),
	}
}

// Load reads the entries of many keys in one query, which is faster than reading them one by one.
func (b *Batch) Load(keys []Key) error {
	entries, err := b.tx.Entries(keys)
	if err != nil {
		return err
	}
	if b.index == nil { // most loaded keys are changed afterwards
		b.index, b.known, b.changes = make(map[Key]int32, len(keys)), make([]loadedKey, 0, len(keys)),
			make([]Changed, 0, len(keys))
	}
	for i, key := range keys {
		e := &entries[i]
		e.Key = key
		if at, ok := b.index[key]; ok {
			b.known[at].before = e
			continue
		}
		b.index[key] = int32(len(b.known)) //nolint:gosec // the count is limited by memory
		b.known = append(b.known, loadedKey{e, -1})
	}
	return nil
}

// hold registers entries that were already read in this transaction; they need no Load.
func (b *Batch) hold(entries []Entry) {
	if b.index == nil {
		b.index = make(map[Key]int32, len(entries))
	}
	for i := range entries {
		b.index[entries[i].Key] = int32(len(b.known)) //nolint:gosec // the count is limited by memory
		b.known = append(b.known, loadedKey{&entries[i], -1})
	}
}

// Get returns the entry of a key including pending changes. If it does not exist, it is the zero value except
// for its Key.
func (b *Batch) Get(key Key) (Entry, error) {
	_, e, err := b.find(key)
	if err != nil {
		return Entry{}, err
	}
	return *e, nil
}

// find returns the entry of a key including pending changes, and its index in known. The pointer is valid until
// the next change.
func (b *Batch) find(key Key) (int32, *Entry, error) {
	at, ok := b.index[key]
	if !ok {
		if err := b.Load([]Key{key}); err != nil {
			return 0, nil, err
		}
		at = b.index[key]
	}
	k := b.known[at]
	if k.change < 0 {
		return at, k.before, nil
	}
	return at, &b.changes[k.change].After, nil
}

// edit applies an Edit whose key is canonical.
func (b *Batch) edit(edit Edit) (Entry, error) {
	before, err := b.Get(edit.Key)
	if err != nil {
		return Entry{}, err
	}
	if edit.IfVersion != AnyVersion && edit.IfVersion != before.Version {
		return Entry{}, fmt.Errorf("%w: %s has version %d, not %d", ErrConflict, edit.Key, before.Version,
			edit.IfVersion)
	}
	record, err := edit.Change(before)
	if err != nil {
		return Entry{}, err
	}
	if before.Status == Withdrawn && record.Status == Active && !edit.Activate {
		return Entry{}, Invalid("stays_withdrawn", "status",
			"%s is withdrawn: set its status to active to restore it (set --activate)", edit.Key)
	}
	after, is, err := b.PutIf(edit.Key, record, edit.Note, edit.OutsideSandbox, anyChange)
	if err == nil && !is && edit.KeepNote && edit.Note != "" && edit.Note != before.Note {
		after, err = b.annotate(edit.Key, edit.Note)
	}
	return after, err
}

// annotate adds a version of an entry that differs in its note only.
func (b *Batch) annotate(key Key, note string) (Entry, error) {
	at, before, err := b.find(key)
	if err != nil {
		return Entry{}, err
	}
	return *b.add(at, Entry{Key: key, Changed: b.now, By: b.by, Note: note, Record: before.Record}), nil
}

// Put sets the current record of a key. The record must come from Check. It reports whether anything changes:
// an equal record makes no version.
func (b *Batch) Put(key Key, record Record, note string) (Entry, bool, error) {
	return b.PutIf(key, record, note, false, anyChange)
}

func anyChange(Entry, Record) error { return nil }

// PutIf is Put with a veto: if may returns an error for the current entry and the new record, the change is not
// made and the error is returned. may is not called if the record makes no version. outside is
// Edit.OutsideSandbox.
func (b *Batch) PutIf(
	key Key, record Record, note string, outside bool, may func(before Entry, after Record) error,
) (Entry, bool, error) {
	at, before, err := b.find(key)
	if err != nil {
		return Entry{}, false, err
	}
	if err := CheckText("note", note, MaxText); err != nil {
		return Entry{}, false, fmt.Errorf("%s: %w", key, err)
	}
	if record.Sandbox, err = b.sandbox(before, key, record.Sandbox, outside); err != nil {
		return Entry{}, false, err
	}
	if record.Status == Reserved && before.Exists() && before.Status != Reserved {
		return Entry{}, false, Invalid("reserved_again", "status",
			"%s was assigned before, and cannot be reserved again: withdraw it instead", key)
	}
	record.Since = sinceOf(before, record.Status, b.now)
	if before.Exists() && before.Equal(&record) {
		return *before, false, nil
	}
	if err := may(*before, record); err != nil {
		return Entry{}, false, err
	}
	if record.Alias != "" {
		if err := b.checkAlias(before, key, record.Alias); err != nil {
			return Entry{}, false, err
		}
	}
	after := b.add(at, Entry{Key: key, Changed: b.now, By: b.by, Note: note, Record: record})
	return *after, true, nil
}

// Import is Put of a version from an export: it preserves Changed, By, Note and Since. Version is assigned. superseded
// means that a later version of the key follows: its alias is not checked, since it was valid with the versions that
// other keys had at its time, not with those that they have now.
func (b *Batch) Import(e Entry, superseded bool) (bool, error) {
	at, before, err := b.find(e.Key)
	if err != nil {
		return false, err
	}
	if e.Sandbox && before.Exists() && !before.Sandbox {
		return false, Invalid("outside_sandbox", "sandbox",
			"%s was registered outside of a sandbox, and cannot be moved into one", e.Key)
	}
	if e.Alias != "" && !superseded {
		if err := b.checkAlias(before, e.Key, e.Alias); err != nil {
			return false, err
		}
	}
	b.add(at, e)
	return true, nil
}

// add appends the next version of the key at an index of known.
func (b *Batch) add(at int32, after Entry) *Entry {
	k := b.known[at]
	before := k.before
	if k.change >= 0 { // changed earlier in this batch
		before = &b.changes[k.change].After
	}
	after.Version = before.Version + 1
	if after.Changed.Before(before.Changed) { // times in a history never decrease, even if the clock does
		after.Changed = before.Changed
	}
	b.known[at].change = len(b.changes)
	b.changes = append(b.changes, Changed{*before, after})
	b.inside = b.inside || after.Kind == KindPrefix
	if after.Alias != "" && after.Alias != before.Alias {
		b.aliases[after.Alias] = append(b.aliases[after.Alias], after.Name)
	}
	return &b.changes[len(b.changes)-1].After
}

// remove purges all versions of an entry.
func (b *Batch) remove(e Entry) { b.removed = append(b.removed, e) }

// MaxAliases limits the length of a chain of aliases.
const MaxAliases = 8

// Limits of the search for chains that end at a name: aliases that are read in one query, and those that are read
// before the name is refused as an alias, since the search blocks other writers.
const chainPage, maxSearched = 1000, 10_000

// checkAlias returns ErrInvalid if an alias would create a cycle, or a chain of more than MaxAliases: behind the
// alias, or before the key, whose own aliases would no longer resolve. before is the entry of the key; what already
// refers to it is not checked again if its alias stays.
func (b *Batch) checkAlias(before *Entry, key Key, alias string) error {
	stays := before.Alias == alias
	for length := range MaxAliases {
		if alias == key.Name {
			return Invalid("alias_of_itself", "alias", "alias loop: %s would resolve to itself", key)
		}
		e, err := b.Get(Name(alias))
		if err != nil {
			return err
		}
		if e.Alias != "" {
			alias = e.Alias
			continue
		}
		if stays {
			return nil
		}
		left := maxSearched
		exceeds, err := b.hasChain(key.Name, MaxAliases-length, &left)
		switch {
		case err == nil && left <= 0:
			err = Invalid("alias_chain_long", "alias",
				"alias chain too long to check: more than %d names are aliases of %s: make them aliases of %s first",
				maxSearched, key, alias)
		case err == nil && exceeds:
			err = Invalid("alias_chain_long", "alias",
				"alias chain too long: aliases of %s would begin a chain of more than %d aliases", key, MaxAliases)
		}
		return err
	}
	return Invalid("alias_chain_long", "alias", "alias chain too long: %s would end a chain of more than %d aliases",
		key, MaxAliases)
}

// hasChain reports whether a chain of that many aliases ends at a name, with the pending changes. It returns early when
// left names were read, and then left is not positive.
func (b *Batch) hasChain(name string, length int, left *int) (bool, error) {
	if length == 0 {
		return true, nil
	}
	for _, alias := range b.aliases[name] {
		if is, err := b.refers(alias, name, length, left); is || err != nil {
			return is, err
		}
	}
	for after := ""; ; {
		page, err := b.tx.Aliases(name, after, chainPage)
		if err != nil {
			return false, err
		}
		for _, alias := range page {
			if is, err := b.refers(alias, name, length, left); is || err != nil {
				return is, err
			}
		}
		if len(page) < chainPage || *left <= 0 {
			return false, nil
		}
		after = page[len(page)-1]
	}
}

// refers reports whether a chain of that many aliases ends at a name by an alias, unless that refers elsewhere by a
// pending change.
func (b *Batch) refers(alias, name string, length int, left *int) (bool, error) {
	if *left--; *left <= 0 {
		return false, nil
	}
	if at, ok := b.index[Name(alias)]; ok && b.known[at].change >= 0 {
		if b.changes[b.known[at].change].After.Alias != name {
			return false, nil
		}
	}
	return b.hasChain(alias, length-1, left)
}

// IsOfAliases reports whether an error depends on the aliases of other names. A later change of the same transaction
// may set these: an alias and its target are swapped, or a chain is reversed.
func IsOfAliases(err error) bool {
	var is *Error
	return errors.As(err, &is) && (is.Code == "alias_of_itself" || is.Code == "alias_chain_long")
}

// sandbox reports whether an entry is in a sandbox. An entry registered outside of a sandbox never becomes part
// of one.
func (b *Batch) sandbox(before *Entry, key Key, requested, outside bool) (bool, error) {
	if before.Exists() && !before.Sandbox {
		return false, nil
	}
	if key.Kind == KindPrefix && (requested || outside) {
		return requested, nil
	}
	return b.enclosedBySandbox(key)
}

// enclosedBySandbox reports whether the longest prefix of a key, other than the key itself, is a sandbox.
func (b *Batch) enclosedBySandbox(key Key) (bool, error) {
	if b.prefixes == 0 {
		first, err := b.tx.List(KindPrefix, "", "", 1)
		if err != nil {
			return false, err
		}
		b.prefixes = 2*min(len(first), 1) - 1
	}
	if b.prefixes < 0 && !b.inside {
		return false, nil
	}
	path := EnclosingPrefix(key.Name)
	stored, ok := b.enclosed[path]
	if !ok {
		p, err := LongestPrefix(b.tx.Floor, path)
		if err != nil {
			return false, err
		}
		stored = enclosure{len(p.Name), p.Sandbox}
		b.enclosed[path] = stored
	}
	// Prefixes that are pending in this batch.
	for text := path; len(text) >= stored.length && text != ""; text = EnclosingPrefix(text) {
		if at, ok := b.index[Prefix(text)]; ok && b.known[at].change >= 0 {
			return b.changes[b.known[at].change].After.Sandbox, nil
		}
	}
	return stored.sandbox, nil
}

// Flush writes the changes, and returns them with their Seq. The batch is empty afterwards. A new change set
// without kind and note gets the note of its first change.
func (b *Batch) Flush() ([]Changed, error) {
	changes := b.changes
	if b.set.Number == 0 && b.set.Kind == "" && b.set.Note == "" && len(changes) > 0 {
		b.set.Note = changes[0].After.Note
	}
	if err := b.tx.Append(&b.set, changes, b.removed); err != nil {
		return nil, err
	}
	next := NewBatch(b.tx, b.by, b.now)
	next.set = b.set
	*b = *next
	return changes, nil
}

// Changes returns the pending changes, without their Seq.
func (b *Batch) Changes() []Changed { return b.changes }
