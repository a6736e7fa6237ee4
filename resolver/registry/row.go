package registry

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/urnd/urnd/resolver/registry/merkle"
)

// Row is what a store has of a Seq: a version, or what happened to others. It need not understand it.
type Row struct {
	Seq  Seq
	Prev Seq // the version before, 0 for none
	Key
	// Octets are those of the version, or of the event. A Row without octets is a purge, as it was once written.
	Octets []byte
	// Former is the name that a new version renames, which has no current version any more then; "" for none. It is not read.
	Former string
}

// The first octet of what a store has of a version. A format that was once written is read for ever.
const (
	// formatSealed has the length of what stays, this, a salt, and the content.
	formatSealed = 2
	// formatRedacted has the length of what stays, this, and the digest of salt and content.
	formatRedacted = 3
	// formatRedactedWhole is formatRedacted of a version in the first format: the digest is of all its octets.
	formatRedactedWhole = 4
	// formatPurged has the hash of the leaf alone.
	formatPurged = 5
	// formatRedaction is the event of a redaction: not a version.
	formatRedaction = 6
	// formatPurge is the event of a purge, with the numbers of the versions that it purged.
	formatPurge = 7
)

// saltSize is the length of a salt: who has the digest of a content that was redacted cannot find it by trying likely ones.
const saltSize = 16

// IsVersion reports whether a row is a version of its key, that may be the current one.
func (r *Row) IsVersion() bool { return len(r.Octets) > 0 && r.Octets[0] < formatPurged }

// IsPurge reports whether a row says that its key was purged: it has no current version then.
func (r *Row) IsPurge() bool { return len(r.Octets) == 0 || r.Octets[0] == formatPurge }

// Ends returns the key that has no current version any more after a row; ok is false where there is none.
func (r *Row) Ends() (key Key, ok bool) {
	switch {
	case r.IsPurge():
		return r.Key, true
	case r.Former != "":
		return Key{r.Kind, r.Former}, true
	default:
		return Key{}, false
	}
}

// isPurged reports whether a row is what is left of a version that was purged.
func (r *Row) isPurged() bool { return len(r.Octets) > 0 && r.Octets[0] == formatPurged }

// isSealed reports whether a row was written by who has a tree.
func (r *Row) isSealed() bool { return len(r.Octets) > 0 && r.Octets[0] != format }

// Entry returns the entry of a row that is a version.
func (r *Row) Entry() (Entry, error) {
	e := Entry{Key: r.Key, Seq: r.Seq, Prev: r.Prev}
	err := Decode(&e, r.Octets)
	return e, err
}

// rowOf returns the row of a new version.
func rowOf(e *Entry, salt []byte) Row {
	fields, stays := entryFields(e), staysOf(e)
	w := writer{b: make([]byte, 0, 2+len(stays)+len(salt)+64)}
	w.b = append(w.b, formatSealed)
	w.text(string(stays))
	w.b = append(w.b, salt...)
	w.number(fields & contentFields)
	w.content(e, fields)
	return Row{e.Seq, e.Prev, e.Key, w.b, e.Former}
}

// staysOf returns the octets of a version that stay where its content is redacted.
func staysOf(e *Entry) []byte {
	fields := entryFields(e)
	var w writer
	w.number(fields &^ contentFields)
	w.circumstances(e, fields)
	return w.b
}

// rowsOf returns the rows of new versions, which have their Seq.
func rowsOf(entries []Entry) []Row {
	rows, salts := make([]Row, len(entries)), make([]byte, saltSize*len(entries))
	_, _ = rand.Read(salts) // it never fails
	for i := range entries {
		rows[i] = rowOf(&entries[i], salts[saltSize*i:][:saltSize])
	}
	return rows
}

// leaf returns the hash by which a row is in the tree. It is that of what is there of each version for ever, and of the digest
// of its content, so that it stays when the content is redacted.
func (r *Row) leaf() (merkle.Hash, error) {
	var stays []byte
	var digest merkle.Hash
	if len(r.Octets) > 0 {
		switch r.Octets[0] {
		case format:
			digest = sha256.Sum256(r.Octets)
		case formatSealed:
			head, rest, ok := cutText(r.Octets[1:])
			if !ok {
				return merkle.Hash{}, r.damaged()
			}
			stays, digest = head, sha256.Sum256(rest)
		case formatRedacted, formatRedactedWhole:
			head, rest, ok := cutText(r.Octets[1:])
			if !ok || len(rest) != len(digest) {
				return merkle.Hash{}, r.damaged()
			}
			if digest = merkle.Hash(rest); r.Octets[0] == formatRedacted {
				stays = head
			}
		case formatPurged:
			if len(r.Octets) != 1+len(digest) {
				return merkle.Hash{}, r.damaged()
			}
			return merkle.Hash(r.Octets[1:]), nil
		case formatRedaction, formatPurge:
			stays = r.Octets
		default:
			return merkle.Hash{}, r.damaged()
		}
	}
	var most [512]byte // of nearly all
	b := most[:0]
	b = binary.AppendUvarint(b, uint64(r.Seq))  //nolint:gosec // it is positive
	b = binary.AppendUvarint(b, uint64(r.Prev)) //nolint:gosec // it is not negative
	b = append(b, byte(r.Kind))
	b = binary.AppendUvarint(b, uint64(len(r.Name)))
	b = append(b, r.Name...)
	b = binary.AppendUvarint(b, uint64(len(stays)))
	b = append(b, stays...)
	return merkle.Leaf(append(b, digest[:]...)), nil
}

func (r *Row) damaged() error {
	return fmt.Errorf("%w: number %d, of %s, cannot be read", ErrDamaged, r.Seq, r.Key)
}

// cutText cuts a text with its length from octets.
func cutText(b []byte) (text, rest []byte, ok bool) {
	length, n := binary.Uvarint(b)
	if n <= 0 || length > uint64(len(b)-n) { //nolint:gosec // it is not negative
		return nil, nil, false
	}
	return b[n:][:length], b[n:][length:], true
}

// redacted returns a row that has a content without it, but with the digest of it.
func (r *Row) redacted() (Row, error) {
	var stays, content []byte
	kind := byte(formatRedacted)
	switch r.Octets[0] {
	case format: // nothing of what stays is in the leaf but the digest of all
		e, err := r.Entry()
		if err != nil {
			return Row{}, err
		}
		kind, stays, content = formatRedactedWhole, staysOf(&e), r.Octets
	case formatSealed:
		var ok bool
		if stays, content, ok = cutText(r.Octets[1:]); !ok {
			return Row{}, r.damaged()
		}
	default:
		return Row{}, r.damaged()
	}
	digest := sha256.Sum256(content)
	w := writer{b: []byte{kind}}
	w.text(string(stays))
	return Row{Seq: r.Seq, Prev: r.Prev, Key: r.Key, Octets: append(w.b, digest[:]...)}, nil
}

// purged returns what is left of a row that is removed: that it was there, and nothing of what it was.
func (r *Row) purged() (Row, error) {
	leaf, err := r.leaf()
	return Row{Seq: r.Seq, Octets: append([]byte{formatPurged}, leaf[:]...)}, err
}
