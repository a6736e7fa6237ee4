package httpcache

import (
	"encoding/binary"
	"net/http"
	"time"

	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// headVersion is the first byte of a head, its format version.
const headVersion = 1

const (
	headExplicit = 1 << iota
	headNoCache
	headMustRevalidate
	headImmutable
	headPurged
	headSetsCookies
)

// head returns the serialized response without its body, as stored on disk and in a shared store:
// length-prefixed texts, and numbers in the varint format of encoding/binary. Names and values of fields may
// have any bytes (RFC 9110 section 5.5).
func (s *stored) head() []byte {
	b := append(make([]byte, 0, s.headSize()), headVersion, s.headFlags(), byte(s.Source))
	b = binary.AppendVarint(b, int64(s.Status))
	for _, text := range [...]string{s.Reason, s.Spelling, s.basis} {
		b = appendText(b, text)
	}
	b = binary.AppendVarint(b, s.Received.Unix())
	b = binary.AppendVarint(b, int64(s.Received.Nanosecond()))
	for _, d := range [...]time.Duration{s.InitialAge, s.Lifetime, s.WhileRevalidate, s.IfError} {
		b = binary.AppendVarint(b, int64(d))
	}
	from, _ := s.ServerAddr.MarshalBinary() // it does not fail
	b = appendText(b, string(from))
	b = binary.AppendUvarint(b, uint64(len(s.Fields)))
	for _, f := range s.Fields {
		b = appendText(appendText(b, f.Name), f.Value)
	}
	b = binary.AppendUvarint(b, uint64(len(s.Selectors)))
	for i := range s.Selectors {
		b = appendText(appendText(b, s.Selectors[i].Name), s.Selectors[i].Value)
	}
	var names []string
	if s.ValidatedOnly != nil {
		names = *s.ValidatedOnly
	}
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, name := range names {
		b = appendText(b, name)
	}
	return b
}

// headSize returns the approximate size of the head in bytes.
func (s *stored) headSize() int {
	const numbers, lengths = 80, 4
	size := numbers + len(s.Reason) + len(s.Spelling) + len(s.basis)
	for i := range s.Fields {
		size += lengths + len(s.Fields[i].Name) + len(s.Fields[i].Value)
	}
	for i := range s.Selectors {
		size += lengths + len(s.Selectors[i].Name) + len(s.Selectors[i].Value)
	}
	return size
}

func (s *stored) headFlags() (flags byte) {
	for i, set := range [...]bool{s.Explicit, s.NoCache, s.MustRevalidate, s.Immutable, s.Purged, s.SetsCookies} {
		if set {
			flags |= 1 << i
		}
	}
	return flags
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// parseHead returns the stored response of a head, without its content, nil if the head is invalid. The values
// derived from fields are parsed again.
func parseHead(head []byte) *stored {
	if len(head) < 3 || head[0] != headVersion {
		return nil
	}
	flags, r := head[1], headReader{rest: string(head[3:])}
	s := &stored{uses: new(uses)}
	s.Explicit, s.Purged = flags&headExplicit != 0, flags&headPurged != 0
	s.NoCache, s.MustRevalidate = flags&headNoCache != 0, flags&headMustRevalidate != 0
	s.Immutable, s.SetsCookies = flags&headImmutable != 0, flags&headSetsCookies != 0
	s.Source = rules.Source(head[2])
	s.Status = int(r.number())
	s.Reason, s.Spelling, s.basis = r.text(), r.text(), r.text()
	seconds := r.number()
	s.Received = time.Unix(seconds, r.number())
	for _, d := range [...]*time.Duration{&s.InitialAge, &s.Lifetime, &s.WhileRevalidate, &s.IfError} {
		*d = time.Duration(r.number())
	}
	if s.ServerAddr.UnmarshalBinary([]byte(r.text())) != nil {
		return nil
	}
	fields := make(httpmessage.Fields, r.count(2)) // two lengths each
	for i := range fields {
		fields[i] = httpmessage.Field{Name: r.text(), Value: r.text()}
	}
	if n := r.count(2); n > 0 {
		s.Selectors = make([]rules.Selector, n)
		for i := range s.Selectors {
			s.Selectors[i] = rules.Selector{Name: r.text(), Value: r.text()}
		}
	}
	var names []string
	for range r.count(1) {
		names = append(names, r.text())
	}
	if r.failed || r.rest != "" || s.Status < http.StatusOK {
		return nil
	}
	s.ValidatedOnly = rules.ValidatedOnly(names)
	s.SetFields(fields)
	date, _ := rules.ParseDate(s.Fields.Get("Date"))
	s.Date = rules.NewSecond(date)
	return s
}

// headReader parses a head. After a failure it returns zero values.
type headReader struct {
	rest   string
	failed bool
}

// number reads a signed varint.
func (r *headReader) number() int64 {
	n := r.unsigned()
	return int64(n>>1) ^ -int64(n&1)
}

func (r *headReader) unsigned() (n uint64) {
	for i := range min(len(r.rest), binary.MaxVarintLen64) {
		c := r.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	return r.fail()
}

func (r *headReader) fail() uint64 {
	r.failed, r.rest = true, ""
	return 0
}

// count reads a number of items that need at least each bytes, and fails if they exceed the rest.
func (r *headReader) count(each int) int {
	n := r.unsigned()
	if n > uint64(len(r.rest)/each) { //nolint:gosec // it is not negative
		n = r.fail()
	}
	return int(n) //nolint:gosec // it is at most the length
}

func (r *headReader) text() string {
	n := r.count(1)
	text := r.rest[:n]
	r.rest = r.rest[n:]
	return text
}
