package urnns

import "slices"

// index finds the row of a NID in any case. It is used for every name: a map of NIDs
// in lower case would take a third of the time that computing a key takes.
type index [512][]entry

type entry struct {
	nid string
	row *row
}

// slot returns where the rows of a NID are. With bit 5 set, ASCII letters are in
// lower case, and digits and hyphens are themselves.
func slot(nid string) int {
	const lower = 0x20
	n := len(nid)
	if n == 0 {
		return 0
	}
	return (int(nid[0]|lower) + 5*int(nid[n/2]|lower) + 17*int(nid[n-1]|lower) + 59*n) % len(index{})
}

func (x *index) find(nid string) *row {
	for _, e := range x[slot(nid)] {
		if nid == e.nid || equalFold(nid, e.nid) {
			return e.row
		}
	}
	return nil
}

// put adds r, and removes the row with the same NID.
func (x *index) put(r *row) {
	bucket := &x[slot(r.ns.NID)]
	*bucket = slices.DeleteFunc(*bucket, func(e entry) bool { return e.nid == r.ns.NID })
	*bucket = append(*bucket, entry{r.ns.NID, r})
}

// equalFold compares a NID with one in lower case.
func equalFold(nid, lowered string) bool {
	if len(nid) != len(lowered) {
		return false
	}
	for i := range len(nid) {
		if lower(nid[i]) != lowered[i] {
			return false
		}
	}
	return true
}
