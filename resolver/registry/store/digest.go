package store

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Digests are SHA-256 of fields, each with a number and its bytes, whose length comes before them; fields without a value are
// left out. docs/registry-schema.md says how they are computed by others.
//
//   - The digest of a version is of its salt, contact, metadata and targets: what a redaction removes. It stays then.
//   - The leaf of a version is of all else that it has, and of its digest. It is what a purge leaves of it.
//   - The digest of a commit is of the digest of the commit before, its change set, and the leaves of its versions and events.

// digestSize is the length of digests, saltSize that of salts: who knows the digest of what was redacted cannot find that by trying.
const (
	digestSize = sha256.Size
	saltSize   = 16
)

// The numbers of fields. They are in digests, and do not change.
const (
	fieldSalt = iota + 1
	fieldContact
	fieldMetadata
	fieldTarget // begins a target
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

	fieldEvent // its type
	fieldOf    // a version that an event is about

	fieldBefore // the digest of the commit before
	fieldSet
	fieldSetKind
	fieldReverts
	fieldLeaf
)

// hasher collects fields. Its buffer is used again.
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

// number adds a number as 8 bytes, in the order of the network.
func (h *hasher) number(field byte, n int64) {
	if n == 0 {
		return
	}
	h.b = append(h.b, field, 8)
	h.b = binary.BigEndian.AppendUint64(h.b, uint64(n)) //nolint:gosec // its bits
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
	if !e.Since.Equal(e.Changed) {
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
	for _, of := range e.Of {
		h.number(fieldOf, int64(of))
	}
	return h.sum()
}

// commit returns the digest of a commit, of the digest of the one before it, and leaves one after another.
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
