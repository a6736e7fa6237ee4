package store

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Digests are SHA-256 (FIPS 180-4) of a sequence of fields: the number of the field, the length of its value,
// and the value. Empty fields are omitted. docs/registry-schema.md describes how other programs compute them.
//
//   - The digest of a version covers its salt, contact, metadata and targets: the data that a redaction
//     removes. The digest is retained.
//   - The leaf of a version covers all its other data and its digest. A purge retains the leaf only.
//   - The digest of a commit covers the digest of the previous commit, its change set, and the leaves of its
//     versions and events.

// digestSize is the length of digests, saltSize that of salts. The salt prevents that redacted data is found by
// hashing guesses.
const (
	digestSize = sha256.Size
	saltSize   = 16
)

// The numbers of fields. They are part of the digests and must never change.
const (
	fieldSalt = iota + 1
	fieldContact
	fieldMetadata
	fieldTarget // starts a target
	fieldURI
	fieldPriority
	fieldFrom
	fieldUntil
	fieldRelation
	fieldType
	fieldLanguage
	fieldContext
	fieldTitle
	fieldTargetNote

	fieldSeq
	fieldKind
	fieldKey
	fieldNumber
	fieldTime
	fieldAuthor
	fieldStatus
	fieldSince
	fieldRedirect
	fieldAuthoritative
	fieldSandbox
	fieldAlias
	fieldNote
	fieldReason
	fieldSuccessor
	fieldPattern
	fieldDigest

	fieldEvent // type of an event
	fieldOf    // a version that an event affected

	fieldBefore // digest of the previous commit
	fieldSet
	fieldSetKind
	fieldReverts
	fieldLeaf
)

// hasher collects fields in a reusable buffer.
type hasher struct{ b []byte }

func (h *hasher) reset() { h.b = h.b[:0] }

func (h *hasher) sum() [digestSize]byte { return sha256.Sum256(h.b) }

func (h *hasher) text(field byte, s string) {
	if s == "" {
		return
	}
	h.b = append(h.b, field)
	h.b = binary.AppendUvarint(h.b, uint64(len(s)))
	h.b = append(h.b, s...)
}

func (h *hasher) bytes(field byte, b []byte) {
	h.b = append(h.b, field)
	h.b = binary.AppendUvarint(h.b, uint64(len(b)))
	h.b = append(h.b, b...)
}

// number adds a number as 8 bytes in big-endian order; 0 is omitted.
func (h *hasher) number(field byte, n int64) {
	if n == 0 {
		return
	}
	h.b = append(h.b, field, 8)
	h.b = binary.BigEndian.AppendUint64(h.b, uint64(n)) //nolint:gosec // the bit pattern
}

func (h *hasher) time(field byte, t time.Time) {
	if t.IsZero() {
		return
	}
	h.b = append(h.b, field, 8)
	h.b = binary.BigEndian.AppendUint64(h.b, uint64(t.UnixMilli()))
}

func (h *hasher) flag(field byte, set bool) {
	if set {
		h.number(field, 1)
	}
}

// content returns the digest of a version.
func (h *hasher) content(e *registry.Entry, salt []byte) [digestSize]byte {
	h.reset()
	h.bytes(fieldSalt, salt)
	h.text(fieldContact, e.Contact)
	h.text(fieldMetadata, e.Metadata)
	for i := range e.Targets {
		t := &e.Targets[i]
		h.number(fieldTarget, int64(i)+1)
		h.text(fieldURI, t.URI)
		h.number(fieldPriority, int64(t.Priority))
		h.time(fieldFrom, t.From)
		h.time(fieldUntil, t.Until)
		h.text(fieldRelation, t.Rel)
		h.text(fieldType, t.Type)
		h.text(fieldLanguage, t.Language)
		h.text(fieldContext, t.Context)
		h.text(fieldTitle, t.Title)
		h.text(fieldTargetNote, t.Note)
	}
	return h.sum()
}

// leaf returns the leaf of a version with a digest.
func (h *hasher) leaf(e *registry.Entry, digest []byte) [digestSize]byte {
	h.reset()
	h.number(fieldSeq, int64(e.Seq))
	h.number(fieldKind, int64(e.Kind))
	h.text(fieldKey, e.Name)
	h.number(fieldNumber, int64(e.Version))
	h.time(fieldTime, e.Changed)
	h.text(fieldAuthor, e.By)
	h.number(fieldStatus, int64(e.Status))
	if !registry.SameTime(e.Since, e.Changed) {
		h.time(fieldSince, e.Since)
	}
	h.number(fieldRedirect, int64(e.Redirect))
	h.flag(fieldAuthoritative, e.Authoritative)
	h.flag(fieldSandbox, e.Sandbox)
	h.text(fieldAlias, e.Alias)
	h.text(fieldNote, e.Note)
	h.text(fieldReason, e.Reason)
	for _, s := range e.Successors {
		h.text(fieldSuccessor, s)
	}
	h.text(fieldPattern, e.Pattern)
	h.bytes(fieldDigest, digest)
	return h.sum()
}

// event returns the leaf of an event.
func (h *hasher) event(e *registry.Event) [digestSize]byte {
	h.reset()
	h.text(fieldEvent, e.Kind)
	h.number(fieldSeq, int64(e.Seq))
	h.number(fieldKind, int64(e.Key.Kind))
	h.text(fieldKey, e.Name)
	h.time(fieldTime, e.Time)
	h.text(fieldAuthor, e.By)
	h.text(fieldReason, e.Note)
	for _, of := range e.Affected {
		h.number(fieldOf, int64(of))
	}
	return h.sum()
}

// commit returns the digest of a commit, given the digest of the previous commit and the concatenated leaves.
func (h *hasher) commit(before []byte, set *registry.ChangeSet, leaves []byte) [digestSize]byte {
	h.reset()
	h.bytes(fieldBefore, before)
	h.number(fieldSet, int64(set.Number))
	h.text(fieldSetKind, set.Kind)
	h.text(fieldAuthor, set.By)
	h.text(fieldNote, set.Note)
	h.time(fieldTime, set.Time)
	h.number(fieldReverts, int64(set.Reverts))
	h.bytes(fieldLeaf, leaves)
	return h.sum()
}
