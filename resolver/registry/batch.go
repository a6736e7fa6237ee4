package registry

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Batch collects changes of entries within one transaction, and what else changes with them. It
// writes all of them at once by Flush. It is not safe for concurrent use.
type Batch struct {
	tx  WriteTx
	by  string
	now time.Time

	current  map[Key]Entry // as in the store
	pending  map[Key]int   // index in changes
	changes  []Changed
	removed  []Entry
	inside   []Key           // prefixes among the changes
	enclosed map[string]bool // whether what begins with a prefix is in a sandbox
	prefixes int             // whether there are prefixes: 0 is unknown, 1 yes, -1 no
}

// NewBatch returns a Batch of a transaction: changes by somebody at a time.
func NewBatch(tx WriteTx, by string, now time.Time) *Batch {
	return &Batch{
		tx: tx, by: by, now: now,
		current: make(map[Key]Entry), pending: make(map[Key]int), enclosed: make(map[string]bool),
	}
}

// Load reads the entries of keys at once, which is faster than one by one.
func (b *Batch) Load(keys []Key) error {
	entries, err := b.tx.Entries(keys)
	if err != nil {
		return err
	}
	for i, e := range entries {
		e.Key = keys[i]
		b.current[keys[i]] = e
	}
	return nil
}

// Get returns the entry of a key with the changes so far, the zero value but for its Key if there is none.
func (b *Batch) Get(key Key) (Entry, error) {
	if i, ok := b.pending[key]; ok {
		return b.changes[i].After, nil
	}
	if e, ok := b.current[key]; ok {
		return e, nil
	}
	if err := b.Load([]Key{key}); err != nil {
		return Entry{}, err
	}
	return b.current[key], nil
}

// edit makes an Edit of a canonical key.
func (b *Batch) edit(edit Edit) (Entry, error) {
	before, err := b.Get(edit.Key)
	if err != nil {
		return Entry{}, err
	}
	if edit.IfVersion != Any && edit.IfVersion != before.Version {
		return Entry{}, fmt.Errorf("%w: %s has version %d, not %d", ErrConflict, edit.Key, before.Version, edit.IfVersion)
	}
	record, err := edit.Change(before)
	if err != nil {
		return Entry{}, err
	}
	after, _, err := b.Put(edit.Key, record, edit.Note)
	return after, err
}

// Put makes a record that Check has returned the current one of a key. It reports whether that changes
// anything: an equal record makes no version.
func (b *Batch) Put(key Key, record Record, note string) (Entry, bool, error) {
	before, err := b.Get(key)
	if err != nil {
		return Entry{}, false, err
	}
	if err := checkText("note", note, MaxText); err != nil {
		return Entry{}, false, fmt.Errorf("%w: %s: %w", ErrInvalid, key, err)
	}
	if record.Sandbox, err = b.sandbox(before, key, record); err != nil {
		return Entry{}, false, err
	}
	record.Since = sinceOf(before, record, b.now)
	if before.Exists() && sameRecord(before.Record, record) {
		return before, false, nil
	}
	if record.Alias != "" {
		if err := b.checkAlias(key, record.Alias); err != nil {
			return Entry{}, false, err
		}
	}
	after := Entry{
		Key: key, Prev: before.Seq, Version: before.Version + 1, Changed: b.now, By: b.by, Note: note, Record: record,
	}
	b.add(before, after)
	return after, true, nil
}

// Import is Put of a version with its history, as an export has it: its Changed, By, Note and Since are
// kept. Version is set.
func (b *Batch) Import(e Entry) (bool, error) {
	before, err := b.Get(e.Key)
	if err != nil {
		return false, err
	}
	e.Prev, e.Version = before.Seq, before.Version+1
	if e.Alias != "" {
		if err := b.checkAlias(e.Key, e.Alias); err != nil {
			return false, err
		}
	}
	b.add(before, e)
	return true, nil
}

// add adds a new version, or a further one of a key that has changed in this batch already.
func (b *Batch) add(before, after Entry) {
	b.pending[after.Key] = len(b.changes)
	b.changes = append(b.changes, Changed{before, after})
	if after.Kind == KindPrefix {
		b.inside = append(b.inside, after.Key)
	}
}

// remove removes all versions of an entry.
func (b *Batch) remove(e Entry) { b.removed = append(b.removed, e) }

func sameRecord(a, b Record) bool {
	if len(a.Targets) != len(b.Targets) || len(a.Successors) != len(b.Successors) {
		return false
	}
	for i := range a.Targets {
		if a.Targets[i] != b.Targets[i] {
			return false
		}
	}
	for i := range a.Successors {
		if a.Successors[i] != b.Successors[i] {
			return false
		}
	}
	a.Targets, a.Successors, b.Targets, b.Successors = nil, nil, nil, nil
	return reflect.DeepEqual(a, b)
}

// maxAliases bounds a chain of aliases.
const maxAliases = 8

// checkAlias returns ErrInvalid where an alias would lead back to itself.
func (b *Batch) checkAlias(key Key, alias string) error {
	for range maxAliases {
		if alias == key.Name {
			return fmt.Errorf("%w: %s would be an alias of itself by other aliases", ErrInvalid, key)
		}
		e, err := b.Get(Name(alias))
		if err != nil {
			return err
		}
		if e.Alias == "" {
			return nil
		}
		alias = e.Alias
	}
	return fmt.Errorf("%w: %s would be the end of a chain of more than %d aliases", ErrInvalid, key, maxAliases)
}

// sandbox reports whether an entry is in a sandbox: what was registered outside never comes into one.
func (b *Batch) sandbox(before Entry, key Key, record Record) (bool, error) {
	if before.Exists() && !before.Sandbox {
		return false, nil
	}
	if key.Kind == KindPrefix && record.Sandbox {
		return true, nil
	}
	return b.enclosedBySandbox(key)
}

// enclosedBySandbox reports whether the longest prefix of a key other than itself is a sandbox.
func (b *Batch) enclosedBySandbox(key Key) (bool, error) {
	if b.prefixes == 0 {
		first, err := b.tx.List(KindPrefix, "", "", 1)
		if err != nil {
			return false, err
		}
		b.prefixes = 2*min(len(first), 1) - 1
	}
	if b.prefixes < 0 && len(b.inside) == 0 {
		return false, nil
	}
	path := enclosing(key.Name)
	for _, p := range b.inside { // not in the store yet
		if strings.HasPrefix(path, p.Name) && b.changes[b.pending[p]].After.Sandbox {
			return true, nil
		}
	}
	is, ok := b.enclosed[path]
	if !ok {
		p, err := longestPrefix(b.tx.Floor, path)
		if err != nil {
			return false, err
		}
		is = p.Sandbox
		b.enclosed[path] = is
	}
	return is, nil
}

// Flush writes the changes, and returns them. The batch is empty then.
func (b *Batch) Flush() ([]Changed, error) {
	entries := make([]Entry, len(b.changes))
	for i, c := range b.changes {
		entries[i] = c.After
	}
	if len(entries) > 0 {
		if err := b.tx.Append(entries); err != nil {
			return nil, err
		}
	}
	if len(b.removed) > 0 {
		keys := make([]Key, len(b.removed))
		for i, e := range b.removed {
			keys[i] = e.Key
		}
		if err := b.tx.Purge(keys); err != nil {
			return nil, err
		}
	}
	changes := b.changes
	for i := range changes {
		changes[i].After.Seq = entries[i].Seq
	}
	if err := b.derive(changes, b.removed); err != nil {
		return nil, err
	}
	*b = *NewBatch(b.tx, b.by, b.now)
	return changes, nil
}
