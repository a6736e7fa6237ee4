package httpcache

import (
	"bytes"
	"context"
	"encoding/binary"
	"net/http"
	"strings"
	"time"
)

// maxShared is the length of a body that is shared with other processes, in octets.
const maxShared = 64 << 10

// findShared returns a fresh response of other processes for a request, nil for none. Where there is none, what the flight stores is shared.
//
// A response is at the place of its URI, and one that was selected by fields at one that has these, too: mostly what was stored last is what
// is asked for, and otherwise it says which fields the place has.
func (x *exchange) findShared(ctx context.Context, f *flight) *stored {
	c := x.cache
	if c.config.Shared == nil || x.private || x.r.Method != http.MethodGet || x.r.Fields.Has("Authorization") || !isOfWeb(x.r.Key) {
		return nil
	}
	f.share = c.config.Shared.Begin()
	if !x.asksShared() {
		return nil
	}
	s, begun := c.getShared(ctx, sharedPlace(x.r.Key, x.r.Spelling, nil))
	if s != nil && !s.matches(x.r.Fields.Lines) {
		s, begun = c.getShared(ctx, sharedPlace(x.r.Key, x.r.Spelling, s.selectorsFor(x.r.Fields)))
	}
	if s == nil || !x.mayUseShared(s, begun) {
		return nil
	}
	f.share = nil // it is there
	return s
}

// asksShared reports whether other processes may have what a request is answered by: not where its origin is to be asked, or where what that says is known to
// be for one client.
func (x *exchange) asksShared() bool {
	isOutdated := x.selected != nil && x.selected.purged
	return !isOutdated && (!x.demands.hasMaxAge || x.demands.maxAge > 0) && x.collapses(x.class())
}

// mayUseShared reports whether a response of other processes, which they have begun to ask for at a time, answers a request: not where what is
// here is newer, although it must be validated.
func (x *exchange) mayUseShared(s *stored, begun time.Time) bool {
	c := x.cache
	isOlder := x.selected != nil && begun.Before(x.selected.received)
	return s.matches(x.r.Fields.Lines) && s.length <= c.config.MaxObject && !isOlder && !c.outdated.has(x.r.Key, begun) &&
		s.useOf(x.demands, c.config.Now()) == useFresh
}

// isOfWeb reports whether a canonical URI is of http or https. Others may be of this machine, such as those of files.
func isOfWeb(key string) bool {
	return strings.HasPrefix(key, "http:") || strings.HasPrefix(key, "https:")
}

// sharedPlace is where a response for a URI is, by the fields that it was selected by. Neither URIs nor values of fields have
// an end of line.
func sharedPlace(key, spelling string, selectors []selector) string {
	var b strings.Builder
	b.WriteString(key + "\n" + spelling)
	for _, one := range selectors {
		b.WriteString("\n" + one.name + ":" + one.value)
	}
	return b.String()
}

// getShared returns what other processes have stored at a place, nil for nothing, and when they have begun to ask for it.
func (c *Cache) getShared(ctx context.Context, place string) (s *stored, begun time.Time) {
	found, ok := c.config.Shared.Get(ctx, place)
	if !ok {
		return nil, begun
	}
	took, n := binary.Uvarint(found.Payload)
	size, m := binary.Uvarint(found.Payload[max(n, 0):])
	rest := found.Payload[max(n, 0)+max(m, 0):]
	if n <= 0 || m <= 0 || took > uint64(longest) || size > uint64(len(rest)) {
		return nil, begun
	}
	body := rest[size:]
	if s = storedOfHead(rest[:size]); s == nil {
		return nil, begun
	}
	s.content = blocksOf(bytes.Clone(body)).inMemory() // without the memory of the rest
	s.length, s.basis = int64(len(body)), c.config.Basis
	s.part = span{0, s.length}
	s.received = c.config.Now().Add(-found.Age)
	return s, s.received.Add(-time.Duration(took))
}

// shareStored shares a response that a flight has stored, where it is complete, small and fresh. Another complete one replaces what is shared, too:
// that would be used in its place.
func (c *Cache) shareStored(f *flight, s *stored) {
	now := c.config.Now()
	body, isInMemory := blocksIn(s.content)
	if !s.isWhole() || f.isForgotten() {
		return
	}
	if !isInMemory || s.length > maxShared || s.useOf(demands{}, now) != useFresh {
		c.unshare(f.key, s)
		return
	}
	copied := s.copied() // for the time of day, which may differ elsewhere, its age is stored
	copied.initialAge, copied.received = s.age(now), time.Unix(0, 0)
	took := now.Sub(f.begun)
	payload := func() []byte {
		if f.isForgotten() || c.outdated.has(f.key, f.begun) { // since it was stored
			return nil
		}
		return sharedPayload(took, copied, body)
	}
	subject := strings.Join(append([]string{f.key}, s.tags()...), "\n")
	for _, place := range s.sharedPlaces(f.key) {
		f.share(place, subject, s.ttl(now), int(s.length), payload)
	}
}

// unshare removes what other processes may have stored where a response would be.
func (c *Cache) unshare(key string, s *stored) {
	if c.config.Shared == nil {
		return
	}
	for _, place := range s.sharedPlaces(key) {
		c.config.Shared.Delete(place)
	}
}

// sharedPlaces returns where a response for a URI is.
func (s *stored) sharedPlaces(key string) []string {
	places := []string{sharedPlace(key, s.spelling, nil)}
	if len(s.selectors) > 0 {
		places = append(places, sharedPlace(key, s.spelling, s.selectors))
	}
	return places
}

// sharedPayload returns how long a response took, the length of its head, the head, and the content.
func sharedPayload(took time.Duration, s *stored, body blocks) []byte {
	head := s.head()
	made := make([]byte, 0, 2*binary.MaxVarintLen64+len(head)+int(s.length))
	made = binary.AppendUvarint(made, uint64(max(took, 0)))
	made = append(binary.AppendUvarint(made, uint64(len(head))), head...)
	for _, block := range body {
		made = append(made, block...)
	}
	return made
}
