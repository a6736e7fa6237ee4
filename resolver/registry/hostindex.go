package registry

import (
	"context"
	"encoding/binary"
	"slices"
)

// hostIndex writes the index of hosts within a transaction. It follows the rows of a store: what was written without it, as by an older
// program, is read and indexed later.
type hostIndex struct {
	tx      WriteTx
	open    hostBlock // without its last run
	last    hostRun
	next    Seq // the first row that is not indexed
	size    int // of the runs of open, in octets
	full    []Document
	forgets []Seq // rows that are no current versions any more
	marks   []mark
	octets  []byte
	changed bool
}

// openHosts returns the index of a store.
func openHosts(tx WriteTx) (*hostIndex, error) {
	value, err := tx.Document(TableHosts, openKey)
	if err != nil {
		return nil, err
	}
	h := &hostIndex{tx: tx, open: hostBlock{key: openKey, first: 1}}
	if value != nil {
		if h.open, err = hostBlockOf(Document{openKey, value}); err != nil {
			return nil, err
		}
	}
	h.next = h.open.end()
	if n := len(h.open.runs); n > 0 {
		h.last, h.open.runs = h.open.runs[n-1], h.open.runs[:n-1]
	}
	h.size = len(value) - len(h.last.marks)
	return h, nil
}

// add indexes the version of the next row, or nothing of it where it is nil; seq is after those that were added.
func (h *hostIndex) add(seq Seq, e *Entry) {
	h.skip(seq)
	h.marks = h.marks[:0]
	if e != nil {
		h.marks = marksOf(h.marks, e)
		if e.Prev != 0 {
			h.forgets = append(h.forgets, e.Prev)
		}
	}
	h.octets = h.octets[:0]
	for _, m := range h.marks {
		h.octets = binary.LittleEndian.AppendUint16(h.octets, uint16(m))
	}
	h.run(1, h.octets)
}

// skip leaves rows before a Seq without marks.
func (h *hostIndex) skip(seq Seq) {
	if seq > h.next {
		h.run(int64(seq-h.next), nil)
	}
}

// run adds n rows with the same marks.
func (h *hostIndex) run(n int64, marks []byte) {
	h.changed = true
	h.next += Seq(n)
	if h.last.n > 0 && slices.Equal(h.last.marks, marks) {
		h.last.n += n
		return
	}
	if h.last.n > 0 {
		h.open.runs = append(h.open.runs, h.last)
		h.size += len(h.last.marks) + 2
	}
	if h.size+len(marks) > blockSize && len(h.open.runs) > 0 {
		h.close(h.next - Seq(n))
	}
	h.last = hostRun{n, slices.Clone(marks)}
}

// close makes the open block one that is full, whose rows end before end.
func (h *hostIndex) close(end Seq) {
	h.open.key = seqKey(end - 1)
	h.full = append(h.full, h.open.document())
	h.open, h.size = hostBlock{key: openKey, first: end}, 0
}

// flush writes what has changed.
func (h *hostIndex) flush() error {
	if len(h.full) > 0 {
		if err := h.tx.Put(TableHosts, h.full); err != nil {
			return err
		}
		h.full = nil
	}
	if err := h.forget(); err != nil || !h.changed {
		return err
	}
	open := h.open
	if open.runs = slices.Clone(open.runs); h.last.n > 0 {
		open.runs = append(open.runs, h.last)
	}
	h.changed = false
	return h.tx.Put(TableHosts, []Document{open.document()})
}

// forget takes the marks of rows that are no current versions any more.
func (h *hostIndex) forget() error {
	slices.Sort(h.forgets)
	var blocks []Document
	for len(h.forgets) > 0 && h.forgets[0] < h.open.first {
		found, err := h.tx.Documents(TableHosts, "", seqKey(h.forgets[0]-1), 1)
		if err != nil || len(found) == 0 {
			return err
		}
		b, err := hostBlockOf(found[0])
		if err != nil {
			return err
		}
		n, _ := slices.BinarySearch(h.forgets, b.end())
		b.forget(h.forgets[:n])
		h.forgets = h.forgets[n:]
		if d := b.document(); !slices.Equal(d.Value, found[0].Value) {
			blocks = append(blocks, d)
		}
	}
	if len(blocks) > 0 {
		if err := h.tx.Put(TableHosts, blocks); err != nil {
			return err
		}
	}
	n, _ := slices.BinarySearch(h.forgets, h.next)
	if n > 0 {
		h.open.runs = append(h.open.runs, h.last)
		h.open.forget(h.forgets[:n])
		last := len(h.open.runs) - 1
		h.last, h.open.runs, h.changed = h.open.runs[last], h.open.runs[:last], true
		h.size = len(h.open.document().Value)
	}
	h.forgets = h.forgets[:0] // what is not indexed yet has no marks
	return nil
}

// catchUp indexes at most limit rows that a store has and the index has not.
func (h *hostIndex) catchUp(limit int) error {
	for ; limit > 0; limit -= rowsPage {
		rows, err := h.tx.Rows(h.next-1, rowsPage)
		if err != nil {
			return err
		}
		for i := range rows {
			if err := h.row(&rows[i]); err != nil {
				return err
			}
		}
		if len(rows) < rowsPage {
			return h.flush()
		}
		if err := h.flush(); err != nil {
			return err
		}
	}
	return nil
}

// row indexes a row that is in the store.
func (h *hostIndex) row(row *Row) error {
	if r, is := row.redaction(); is {
		h.forgets = append(h.forgets, r.of)
	}
	if p, is := row.purge(); is {
		h.forgets = append(h.forgets, p.versions...)
	}
	if !row.IsVersion() {
		h.add(row.Seq, nil)
		return nil
	}
	e, err := row.Entry()
	if err != nil {
		return err
	}
	h.add(row.Seq, &e)
	return nil
}

// indexAtOnce is how many rows a change indexes at most of those that were written without the index.
const indexAtOnce = 5 * rowsPage

// collect indexes new versions, and rows up to head, if all before them are indexed; before is the head before them. Nothing is
// written yet. forgotten are rows that have lost their content.
func (h *hostIndex) collect(before Seq, entries []Entry, forgotten []Seq, head Seq) {
	h.forgets = append(h.forgets, forgotten...)
	if h.next == before+1 {
		for i := range entries {
			h.add(entries[i].Seq, &entries[i])
		}
		h.skip(head + 1)
		return
	}
	for i := range entries {
		if entries[i].Prev != 0 {
			h.forgets = append(h.forgets, entries[i].Prev)
		}
	}
}

// hostsUpTo returns the index of a store whose head is given, with some of what is missing in it.
func hostsUpTo(tx WriteTx, head Seq) (*hostIndex, error) {
	h, err := openHosts(tx)
	if err == nil && h.next <= head {
		err = h.catchUp(indexAtOnce)
	}
	return h, err
}

// IndexHosts indexes the hosts of what was written without the index, some thousand rows in a transaction.
func IndexHosts(ctx context.Context, s Store) error {
	for {
		is := false
		err := s.Read(ctx, func(tx Tx) (err error) {
			_, is, err = openHostsEnd(tx)
			return err
		})
		if err != nil || is {
			return err
		}
		err = s.Bulk(ctx, func(tx WriteTx) error {
			h, err := openHosts(tx)
			if err == nil {
				err = h.catchUp(indexAtOnce)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
}

// openHostsEnd returns the first row that is not indexed, and whether there is none.
func openHostsEnd(tx Tx) (next Seq, all bool, err error) {
	value, err := tx.Document(TableHosts, openKey)
	next = 1
	if err == nil && value != nil {
		var b hostBlock
		b, err = hostBlockOf(Document{openKey, value})
		next = b.end()
	}
	if err != nil {
		return next, false, err
	}
	rows, err := tx.Rows(next-1, 1)
	return next, len(rows) == 0, err
}
