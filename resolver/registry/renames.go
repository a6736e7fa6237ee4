package registry

import (
	"cmp"
	"hash/maphash"
	"slices"
)

// renames finds the present names of versions that were registered by former ones. It has 24 bytes for each rename: a registry whose names
// were all migrated has as many renames as names.
type renames struct {
	seed maphash.Seed
	all  []renamed
}

// renamed is that versions of a key up to one of them were renamed.
type renamed struct {
	former uint64 // the hash of the key
	last   Seq    // the last version of it
	by     Seq    // the version that renames it
}

func newRenames() renames { return renames{seed: maphash.MakeSeed()} }

// add adds a version that renames a key.
func (r *renames) add(e *Entry) {
	r.all = append(r.all, renamed{maphash.Comparable(r.seed, e.keyBefore()), e.Prev, e.Seq})
}

// sort must be called after all were added.
func (r *renames) sort() {
	slices.SortFunc(r.all, func(a, b renamed) int {
		return cmp.Or(cmp.Compare(a.former, b.former), cmp.Compare(a.last, b.last))
	})
}

// present returns the key that a version of a key has now. A name may have been renamed, registered anew, and renamed again: its versions
// were renamed by the first rename that follows them.
func (r *renames) present(tx Tx, key Key, seq Seq) (Key, error) {
	for {
		former := maphash.Comparable(r.seed, key)
		i, _ := slices.BinarySearchFunc(r.all, renamed{former: former, last: seq}, func(a, b renamed) int {
			return cmp.Or(cmp.Compare(a.former, b.former), cmp.Compare(a.last, b.last))
		})
		var next Entry
		for ; i < len(r.all) && r.all[i].former == former; i++ {
			row, err := rowAt(tx, r.all[i].by)
			if err != nil {
				return Key{}, err
			}
			e, err := row.Entry()
			if err != nil {
				return Key{}, err
			}
			if e.keyBefore() == key { // else the hashes are equal
				next = e
				break
			}
		}
		if !next.Exists() || next.Seq <= seq {
			return key, nil
		}
		key, seq = next.Key, next.Seq
	}
}
