package registry

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
)

// The index of hosts is a list of the marks of all rows, in the order of their Seq, in documents of TableHosts. Neighbours that have the
// same marks are a run: how many they are, how many marks they have, and these. Only current versions have marks. The key of a document
// is the Seq of its last row; that of the last document, which is not full, is openKey, and its value begins with its first Seq.

// openKey is behind all keys that are a Seq.
const openKey = "open"

// blockSize is from where on a document is full, in octets. SQLite has four of them in a page then.
const blockSize = 900

// hostRun is some neighbours with the same marks.
type hostRun struct {
	n     int64
	marks []byte // two octets each
}

func (r *hostRun) has(m mark) bool {
	for b := r.marks; len(b) >= 2; b = b[2:] {
		if mark(binary.LittleEndian.Uint16(b)) == m {
			return true
		}
	}
	return false
}

func appendRun(b []byte, r hostRun) []byte {
	b = binary.AppendUvarint(b, uint64(r.n)) //nolint:gosec // it is positive
	b = binary.AppendUvarint(b, uint64(len(r.marks)/2))
	return append(b, r.marks...)
}

// cutRun cuts the first run from a block.
func cutRun(b []byte) (r hostRun, rest []byte, ok bool) {
	n, i := binary.Uvarint(b)
	if i <= 0 || n == 0 || n > 1<<62 {
		return r, nil, false
	}
	marks, j := binary.Uvarint(b[i:])
	rest = b[i+max(j, 0):]
	if j <= 0 || marks > uint64(len(rest)/2) {
		return r, nil, false
	}
	return hostRun{int64(n), rest[:2*marks]}, rest[2*marks:], true
}

// hostBlock is a document of the index. Its first row is first.
type hostBlock struct {
	key   string
	first Seq
	runs  []hostRun
}

// end returns the Seq after its last row.
func (b *hostBlock) end() Seq {
	end := b.first
	for i := range b.runs {
		end += Seq(b.runs[i].n)
	}
	return end
}

// hostBlockOf returns the block of a document. The error is ErrDamaged.
func hostBlockOf(d Document) (b hostBlock, err error) {
	b.key = d.Key
	rest := d.Value
	bad := func() (hostBlock, error) {
		return b, fmt.Errorf("%w: the index of hosts, at %q, cannot be read", ErrDamaged, d.Key)
	}
	if d.Key == openKey {
		first, n := binary.Uvarint(rest)
		if n <= 0 || first == 0 || first > 1<<62 {
			return bad()
		}
		b.first, rest = Seq(first), rest[n:]
	}
	for len(rest) > 0 {
		r, after, ok := cutRun(rest)
		if !ok {
			return bad()
		}
		b.runs, rest = append(b.runs, r), after
	}
	if d.Key != openKey {
		last, err := strconv.ParseInt(d.Key, 16, 64)
		if b.first = Seq(last) + 1 - b.end(); err != nil || b.first < 1 {
			return bad()
		}
	}
	return b, nil
}

func (b *hostBlock) document() Document {
	value := make([]byte, 0, blockSize)
	if b.key == openKey {
		value = binary.AppendUvarint(value, uint64(b.first)) //nolint:gosec // it is positive
	}
	for _, r := range b.runs {
		value = appendRun(value, r)
	}
	return Document{Key: b.key, Value: value}
}

// forget takes the marks of some rows, which it has, in their order.
func (b *hostBlock) forget(seqs []Seq) {
	runs := make([]hostRun, 0, len(b.runs)+len(seqs))
	add := func(n int64, marks []byte) {
		switch last := len(runs) - 1; {
		case n == 0:
		case last >= 0 && slices.Equal(runs[last].marks, marks):
			runs[last].n += n
		default:
			runs = append(runs, hostRun{n, marks})
		}
	}
	at := b.first
	for _, r := range b.runs {
		end := at + Seq(r.n)
		for len(seqs) > 0 && seqs[0] < end {
			if seqs[0] >= at { // the same one may be there twice
				add(int64(seqs[0]-at), r.marks)
				add(1, nil)
				at = seqs[0] + 1
			}
			seqs = seqs[1:]
		}
		add(int64(end-at), r.marks)
		at = end
	}
	b.runs = runs
}
