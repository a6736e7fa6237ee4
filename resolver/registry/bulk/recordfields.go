package bulk

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// The bytes of an entry in a file of an external sort, which ends with the import: a set of the fields that there are,
// and these in their order. Texts have their length before them; times are milliseconds since 1970.

// The fields that an entry may have; Version and Changed are always there.
const (
	hasStatus = 1 << iota
	hasSince
	hasBy
	hasNote
	hasReason
	hasSuccessors
	hasAlias
	hasTargets
	hasMetadata
	hasContact
	isAuthoritative
	isSandbox
	hasRedirect
	hasPattern
)

// The fields that a target may have; URI is always there.
const (
	targetType = 1 << iota
	targetLanguage
	targetPriority
	targetFrom
	targetUntil
	targetNote
	targetRel
	targetTitle
	targetContext
)

// appendEntry appends all of an entry but its Key and Seq.
func appendEntry(b []byte, e *registry.Entry) []byte {
	w := writer{b}
	fields := entryFields(e)
	w.number(fields)
	w.circumstances(e, fields)
	w.content(e, fields)
	return w.b
}

// circumstances writes the fields of a version that stay where its content is redacted.
func (w *writer) circumstances(e *registry.Entry, fields uint64) {
	w.number(uint64(e.Version)) //nolint:gosec // versions are positive
	w.time(e.Changed)
	if fields&hasStatus != 0 {
		w.number(uint64(e.Status))
	}
	if fields&hasSince != 0 {
		w.time(e.Since)
	}
	for _, text := range [...]string{e.By, e.Note, e.Reason} {
		w.textIf(text)
	}
	if fields&hasSuccessors != 0 {
		w.number(uint64(len(e.Successors)))
		for _, s := range e.Successors {
			w.text(s)
		}
	}
	w.textIf(e.Alias)
	if fields&hasRedirect != 0 {
		w.number(uint64(e.Redirect)) //nolint:gosec // it is a status of HTTP
	}
	w.textIf(e.Pattern)
}

// content writes the rest.
func (w *writer) content(e *registry.Entry, fields uint64) {
	if fields&hasTargets != 0 {
		w.number(uint64(len(e.Targets)))
		for i := range e.Targets {
			w.target(&e.Targets[i])
		}
	}
	w.textIf(e.Metadata)
	w.textIf(e.Contact)
}

// hasOwnSince reports whether an entry has its status longer than its version is old.
func hasOwnSince(e *registry.Entry) bool { return !e.Since.IsZero() && !e.Since.Equal(e.Changed) }

func entryFields(e *registry.Entry) (fields uint64) {
	for _, f := range [...]struct {
		is  bool
		bit uint64
	}{
		{e.Status != registry.Active, hasStatus},
		{hasOwnSince(e), hasSince},
		{e.By != "", hasBy},
		{e.Note != "", hasNote},
		{e.Reason != "", hasReason},
		{len(e.Successors) > 0, hasSuccessors},
		{e.Alias != "", hasAlias},
		{len(e.Targets) > 0, hasTargets},
		{e.Metadata != "", hasMetadata},
		{e.Contact != "", hasContact},
		{e.Authoritative, isAuthoritative},
		{e.Sandbox, isSandbox},
		{e.Redirect != 0, hasRedirect},
		{e.Pattern != "", hasPattern},
	} {
		if f.is {
			fields |= f.bit
		}
	}
	return fields
}

func targetFields(t *registry.Target) (fields uint64) {
	for _, f := range [...]struct {
		is  bool
		bit uint64
	}{
		{t.Type != "", targetType},
		{t.Language != "", targetLanguage},
		{t.Priority != 0, targetPriority},
		{!t.From.IsZero(), targetFrom},
		{!t.Until.IsZero(), targetUntil},
		{t.Note != "", targetNote},
		{t.Rel != "", targetRel},
		{t.Title != "", targetTitle},
		{t.Context != "", targetContext},
	} {
		if f.is {
			fields |= f.bit
		}
	}
	return fields
}

type writer struct{ b []byte }

func (w *writer) number(n uint64)  { w.b = binary.AppendUvarint(w.b, n) }
func (w *writer) time(t time.Time) { w.b = binary.AppendVarint(w.b, t.UnixMilli()) }

func (w *writer) timeIf(t time.Time) {
	if !t.IsZero() {
		w.time(t)
	}
}

func (w *writer) text(s string) {
	w.number(uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) textIf(s string) {
	if s != "" {
		w.text(s)
	}
}

func (w *writer) target(t *registry.Target) {
	w.number(targetFields(t))
	w.text(t.URI)
	w.textIf(t.Type)
	w.textIf(t.Language)
	if t.Priority != 0 {
		w.b = binary.AppendVarint(w.b, int64(t.Priority))
	}
	w.timeIf(t.From)
	w.timeIf(t.Until)
	for _, text := range [...]string{t.Note, t.Rel, t.Title, t.Context} {
		w.textIf(text)
	}
}

var errSorted = errors.New("a file of the sort is damaged")

// decodeEntry sets all of an entry but its Key and Seq from what appendEntry has appended, which it copies.
func decodeEntry(e *registry.Entry, b []byte) error {
	e.Successors, e.Targets = nil, nil
	r := reader{b: string(b)} // one copy, which all texts share
	fields := r.number()
	r.circumstances(e, fields)
	r.content(e, fields)
	if r.left() {
		return errSorted
	}
	return nil
}

// circumstances reads what writer.circumstances writes.
func (r *reader) circumstances(e *registry.Entry, fields uint64) {
	e.Version = int(r.number()) //nolint:gosec // only Encode writes it
	e.Changed = r.time()
	e.Status = registry.Active
	if fields&hasStatus != 0 {
		e.Status = registry.Status(r.below(uint64(registry.Withdrawn) + 1)) //nolint:gosec // it is below
	}
	e.Since = e.Changed
	if fields&hasSince != 0 {
		e.Since = r.time()
	}
	e.By, e.Note, e.Reason = r.textIf(fields&hasBy), r.textIf(fields&hasNote), r.textIf(fields&hasReason)
	if fields&hasSuccessors != 0 {
		for range r.count() {
			e.Successors = append(e.Successors, r.text())
		}
	}
	e.Alias = r.textIf(fields & hasAlias)
	e.Redirect = 0
	if fields&hasRedirect != 0 {
		e.Redirect = int(r.below(1000)) //nolint:gosec // it is below
	}
	e.Pattern = r.textIf(fields & hasPattern)
	e.Authoritative, e.Sandbox = fields&isAuthoritative != 0, fields&isSandbox != 0
}

// content reads what writer.content writes.
func (r *reader) content(e *registry.Entry, fields uint64) {
	if fields&hasTargets != 0 {
		if n := r.count(); n > 0 {
			e.Targets = make([]registry.Target, 0, min(n, registry.MaxTargets))
			for range n {
				e.Targets = append(e.Targets, r.target())
			}
		}
	}
	e.Metadata, e.Contact = r.textIf(fields&hasMetadata), r.textIf(fields&hasContact)
}

// reader reads octets. Once something cannot be read it is bad, and returns zero values.
type reader struct {
	b   string
	bad bool
}

// left reports whether something could not be read, or was not.
func (r *reader) left() bool { return r.bad || r.b != "" }

func (r *reader) number() (n uint64) {
	for i := range min(len(r.b), binary.MaxVarintLen64) {
		c := r.b[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.b = r.b[i+1:]
			return n
		}
	}
	r.bad, r.b = true, ""
	return 0
}

func (r *reader) signed() int64 {
	n := r.number()
	return int64(n>>1) ^ -int64(n&1) // zigzag, as in encoding/binary
}

// below reads a number below limit.
func (r *reader) below(limit uint64) uint64 {
	n := r.number()
	if n >= limit {
		r.bad = true
		return 0
	}
	return n
}

// count reads how many follow: not more than there are octets.
func (r *reader) count() int { return int(r.below(uint64(len(r.b)) + 1)) } //nolint:gosec // bounded by the length

func (r *reader) text() string {
	n := r.count()
	if n > len(r.b) {
		r.bad = true
		return ""
	}
	s := r.b[:n]
	r.b = r.b[n:]
	return s
}

func (r *reader) textIf(is uint64) string {
	if is == 0 {
		return ""
	}
	return r.text()
}

func (r *reader) time() time.Time { return time.UnixMilli(r.signed()).UTC() }

func (r *reader) timeIf(is uint64) time.Time {
	if is == 0 {
		return time.Time{}
	}
	return r.time()
}

func (r *reader) target() (t registry.Target) {
	fields := r.number()
	t.URI = r.text()
	t.Type, t.Language = r.textIf(fields&targetType), r.textIf(fields&targetLanguage)
	if fields&targetPriority != 0 {
		t.Priority = int(r.signed())
	}
	t.From, t.Until = r.timeIf(fields&targetFrom), r.timeIf(fields&targetUntil)
	t.Note, t.Rel = r.textIf(fields&targetNote), r.textIf(fields&targetRel)
	t.Title, t.Context = r.textIf(fields&targetTitle), r.textIf(fields&targetContext)
	return t
}
