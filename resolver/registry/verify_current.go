package registry

import (
	"fmt"
	"hash/maphash"
)

// A version is the current one of its key if no later one follows it. That keys lead to just those is compared by sums: of hashes of all keys
// with the versions that they lead to, and of hashes of all versions with their keys, less those that another one follows. What is added to
// neither cannot be known beforehand, since the seeds of the hashes are random.

// sum is a sum of hashes, in any order.
type sum [2]uint64

func (s *sum) add(other sum) {
	s[0] += other[0]
	s[1] += other[1]
}

func (s *sum) subtract(other sum) {
	s[0] -= other[0]
	s[1] -= other[1]
}

// seeds make the hashes of one check.
type seeds [2]maphash.Seed

func newSeeds() seeds { return seeds{maphash.MakeSeed(), maphash.MakeSeed()} }

func (s seeds) of(key Key, seq Seq) (hash sum) {
	for i := range hash {
		hash[i] = maphash.Comparable(s[i], Change{seq, key})
	}
	return hash
}

// current checks that keys lead to their last version. unchanged is whether nothing was written since all versions were read.
func (v *verifier) current(tx Tx, unchanged bool) error {
	if !unchanged {
		_, err := v.pointers(tx)
		return err
	}
	n, found, err := v.sumOf(tx)
	if err != nil {
		return err
	}
	if found == v.last && n == v.keys {
		return nil
	}
	faults, err := v.pointers(tx)
	switch {
	case err != nil:
		return err
	case n != v.keys:
		v.report(fmt.Sprintf("%d names and prefixes have versions, and %d have a current one", v.keys, n))
	case faults == 0:
		v.report("the current versions of names and prefixes are not those that no other one follows")
	}
	return nil
}

// sumOf returns the sum over all keys, and how many there are.
func (v *verifier) sumOf(tx Tx) (n int64, found sum, err error) {
	for _, kind := range []Kind{KindName, KindPrefix} {
		for after := ""; ; {
			page, err := tx.Current(kind, after, verifyPage)
			if err != nil {
				return n, found, err
			}
			for _, c := range page {
				found.add(v.seeds.of(c.Key, c.Seq))
				after = c.Key.Name
			}
			n += int64(len(page))
			if len(page) < verifyPage {
				break
			}
		}
	}
	return n, found, nil
}

// pointers looks the version of each key up, and counts faults.
func (v *verifier) pointers(tx Tx) (faults int, err error) {
	for _, kind := range []Kind{KindName, KindPrefix} {
		for after := ""; ; {
			page, err := tx.Current(kind, after, verifyPage)
			if err != nil {
				return faults, err
			}
			found, err := v.pointersOf(tx, page)
			if err != nil {
				return faults, err
			}
			faults += found
			if len(page) < verifyPage {
				break
			}
			after = page[len(page)-1].Key.Name
		}
	}
	return faults, nil
}

// pointersOf looks the versions of some keys up, and counts faults.
func (v *verifier) pointersOf(tx Tx, page []Change) (faults int, err error) {
	keys := make([]Key, len(page))
	for i := range page {
		keys[i] = page[i].Key
	}
	entries, err := tx.Entries(keys)
	if err != nil {
		return 0, err
	}
	report := func(c Change, what string) {
		faults++
		v.report(fmt.Sprintf("%s: its current version is number %d, %s", c.Key, c.Seq, what))
	}
	for i, c := range page {
		if entries[i].Key != c.Key || entries[i].Seq != c.Seq {
			report(c, "which is not one of it")
		}
		switch {
		case c.Seq > v.head: // it was written meanwhile
		case c.Seq < 1 || v.superseded.has(c.Seq):
			report(c, "and there is a later one")
		}
	}
	return faults, nil
}
