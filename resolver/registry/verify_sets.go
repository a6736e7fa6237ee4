package registry

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// setVerifier compares the documents of change sets with their commits, and with the digests that their first rows have, which are in
// the tree. It holds those that are not complete yet.
type setVerifier struct {
	*verifier
	sets map[Seq]*ChangeSet // that have a document
	read map[Seq]*ChangeSet // what there is of them so far: their number, last row and rows
}

func newSetVerifier(v *verifier) setVerifier {
	return setVerifier{v, make(map[Seq]*ChangeSet), make(map[Seq]*ChangeSet)}
}

// load reads the documents of the sets that begin within a part.
func (v *setVerifier) load(tx Tx, p *part) error {
	after := ""
	if p.first > 1 {
		after = seqKey(p.first - 1)
	}
	for {
		page, err := tx.Documents(TableSets, "", after, verifyPage)
		if err != nil {
			return err
		}
		for _, d := range page {
			after = d.Key
			number, err := strconv.ParseInt(d.Key, 16, 64)
			if err == nil && Seq(number) > p.last {
				return nil
			}
			set := new(ChangeSet)
			if err != nil || json.Unmarshal(d.Value, set) != nil || set.Number != Seq(number) {
				v.report(fmt.Sprintf("the change set %q cannot be read", d.Key))
				continue
			}
			v.sets[set.Number] = set
		}
		if len(page) < verifyPage {
			return nil
		}
	}
}

// compare takes the next commit.
func (v *setVerifier) compare(tx Tx, c commit) error {
	set, ok := v.sets[c.set]
	rows := int64(c.last - c.first + 1)
	switch read := v.read[c.set]; {
	case c.set == c.first && !ok:
		if v.digestAt(c.first) != "" {
			v.report(fmt.Sprintf("the change set %d is missing", c.first))
		}
		return nil
	case c.set == c.first:
		v.read[c.set] = &ChangeSet{Last: c.last, Rows: rows}
		if err := v.compareFirst(tx, set); err != nil {
			return err
		}
	case read == nil:
		v.report(fmt.Sprintf("the numbers %d to %d are said to be of the change set %d, which does not have them", c.first, c.last, c.set))
		return nil
	default:
		read.Last, read.Rows = c.last, read.Rows+rows
	}
	if v.read[c.set].Last >= set.Last {
		v.compareRows(set)
	}
	return nil
}

// digestAt returns the digest of a change set that a version has, "" for none.
func (v *setVerifier) digestAt(seq Seq) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.begins[seq]
}

// compareFirst compares a set with what its first row says of it, if that is still there.
func (v *setVerifier) compareFirst(tx Tx, set *ChangeSet) error {
	rows, err := tx.Rows(set.Number-1, 1)
	if err != nil || len(rows) == 0 || rows[0].Seq != set.Number { // what was purged once has no row
		return err
	}
	row := &rows[0]
	want := v.digestAt(set.Number)
	switch {
	case row.isPurged(): // its purge knows
		return nil
	case row.IsPurge() && len(row.Octets) > 0:
		said := ChangeSet{}
		_ = said.ofRow(row) // it cannot fail for a purge
		want, err = said.digest()
	case want == "": // it was written without a tree
		want, err = ChangeSet{Kind: KindBefore}.digest()
	}
	if err != nil {
		return err
	}
	if is, err := set.digest(); err != nil || is != want {
		v.report(fmt.Sprintf("the change set %d is not as it was written: it says another kind, author, reason or time", set.Number))
	}
	return nil
}

// compareRows compares what a set says of its rows with the commits that it has.
func (v *setVerifier) compareRows(set *ChangeSet) {
	if read := v.read[set.Number]; read.Last != set.Last || read.Rows != set.Rows {
		v.report(fmt.Sprintf("the change set %d says that it has %d rows up to number %d, and it has %d up to number %d",
			set.Number, set.Rows, set.Last, read.Rows, read.Last))
	}
	delete(v.sets, set.Number)
	delete(v.read, set.Number)
}

// end reports the sets that are not complete, but for those that go on behind the last number that was read, and those behind it, unless
// they were written meanwhile.
func (v *setVerifier) end(tx Tx, unchanged bool) error {
	for number, set := range v.sets {
		switch {
		case v.read[number] == nil:
			v.report(fmt.Sprintf("the change set %d has no versions", number))
		case set.Last <= v.head:
			v.compareRows(set)
		}
	}
	if !unchanged {
		return nil
	}
	behind, err := tx.Documents(TableSets, "", seqKey(v.head), verifyPage)
	for _, d := range behind {
		v.report(fmt.Sprintf("the change set %q has no versions", d.Key))
	}
	return err
}
