package httpcache

import (
	"encoding/binary"
	"time"
)

// savedVersion is the first byte of a head that append makes.
const savedVersion = 1

const (
	savedExplicit = 1 << iota
	savedNoCache
	savedMustRevalidate
	savedImmutable
	savedPurged
)

// size returns about how many octets append makes.
func (h *savedHead) size() int {
	const numbers, lengths = 80, 4
	octets := numbers + len(h.Reason) + len(h.Spelling) + len(h.Basis)
	for _, pairs := range [...][][2]string{h.Fields, h.Selectors} {
		for i := range pairs {
			octets += lengths + len(pairs[i][0]) + len(pairs[i][1])
		}
	}
	return octets
}

// append appends a head: its texts with their lengths, and its numbers, as of encoding/binary.
func (h *savedHead) append(b []byte) []byte {
	b = append(b, savedVersion, h.flags())
	b = binary.AppendVarint(b, int64(h.Status))
	for _, text := range [...]string{h.Reason, h.Spelling, h.Basis} {
		b = appendText(b, text)
	}
	b = binary.AppendVarint(b, h.Received.Unix())
	b = binary.AppendVarint(b, int64(h.Received.Nanosecond()))
	for _, d := range [...]time.Duration{h.InitialAge, h.Lifetime, h.Directives.WhileRevalidate, h.Directives.IfError} {
		b = binary.AppendVarint(b, int64(d))
	}
	from, _ := h.From.MarshalBinary() // it does not fail
	b = appendText(b, string(from))
	b = appendPairs(appendPairs(b, h.Fields), h.Selectors)
	b = binary.AppendUvarint(b, uint64(len(h.ValidatedOnly)))
	for _, name := range h.ValidatedOnly {
		b = appendText(b, name)
	}
	return b
}

func (h *savedHead) flags() (flags byte) {
	for i, is := range [...]bool{h.Explicit, h.Directives.NoCache, h.Directives.MustRevalidate, h.Directives.Immutable, h.Purged} {
		if is {
			flags |= 1 << i
		}
	}
	return flags
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func appendPairs(b []byte, pairs [][2]string) []byte {
	b = binary.AppendUvarint(b, uint64(len(pairs)))
	for i := range pairs {
		b = appendText(appendText(b, pairs[i][0]), pairs[i][1])
	}
	return b
}

// parse sets all that append has written, and reports whether it could be read. The texts share one copy of b.
func (h *savedHead) parse(b []byte) bool {
	if len(b) < 2 || b[0] != savedVersion {
		return false
	}
	flags, r := b[1], savedReader{rest: string(b[2:])}
	h.Explicit, h.Purged = flags&savedExplicit != 0, flags&savedPurged != 0
	h.Status = int(r.number())
	h.Reason, h.Spelling, h.Basis = r.text(), r.text(), r.text()
	seconds := r.number()
	h.Received = time.Unix(seconds, r.number())
	h.InitialAge, h.Lifetime = time.Duration(r.number()), time.Duration(r.number())
	h.Directives = savedDirectives{
		flags&savedNoCache != 0, flags&savedMustRevalidate != 0, flags&savedImmutable != 0, time.Duration(r.number()), time.Duration(r.number()),
	}
	if h.From.UnmarshalBinary([]byte(r.text())) != nil {
		return false
	}
	h.Fields, h.Selectors = r.pairs(), r.pairs()
	for range r.count(1) {
		h.ValidatedOnly = append(h.ValidatedOnly, r.text())
	}
	return !r.isBad && r.rest == ""
}

// savedReader reads what append has written. Once something cannot be read it is bad, and returns zero values.
type savedReader struct {
	rest  string
	isBad bool
}

// number reads a signed number.
func (r *savedReader) number() int64 {
	n := r.unsigned()
	return int64(n>>1) ^ -int64(n&1)
}

func (r *savedReader) unsigned() (n uint64) {
	for i := range min(len(r.rest), binary.MaxVarintLen64) {
		c := r.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	return r.bad()
}

func (r *savedReader) bad() uint64 {
	r.isBad, r.rest = true, ""
	return 0
}

// count reads how many of at least some octets each follow.
func (r *savedReader) count(each int) int {
	n := r.unsigned()
	if n > uint64(len(r.rest)/each) { //nolint:gosec // it is not negative
		n = r.bad()
	}
	return int(n) //nolint:gosec // it is at most the length
}

func (r *savedReader) text() string {
	n := r.count(1)
	text := r.rest[:n]
	r.rest = r.rest[n:]
	return text
}

func (r *savedReader) pairs() [][2]string {
	n := r.count(2) // two lengths
	pairs := make([][2]string, 0, n)
	for range n {
		pairs = append(pairs, [2]string{r.text(), r.text()})
	}
	return pairs
}
