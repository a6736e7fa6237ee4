package httpcache

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/rules"
)

// sharedStore has responses of several processes, of which each is at the place of its URI, and one that was selected
// by fields also at one that has these, too: mostly what was stored last is what is requested, and otherwise it says
// which fields the place has. It is safe for concurrent use.
type sharedStore struct {
	config  *Config
	objects cache.Objects // nil for none
	// outdated is what other processes have no more, or not as it is.
	outdated invalidations
}

// maxShared is the length of a body that is shared with other processes, in bytes.
const maxShared = 64 << 10

// webKey reports whether a canonical URI is of http or https. Others may be of this machine, such as those of files.
func webKey(key string) bool {
	return strings.HasPrefix(key, "http:") || strings.HasPrefix(key, "https:")
}

// sharedPlace is where a response for a URI is, by the fields that it was selected by. Neither URIs nor values of
// fields have an end of line.
func sharedPlace(key, spelling string, selectors []rules.Selector) string {
	var b strings.Builder
	b.WriteString(key + "\n" + spelling)
	for _, one := range selectors {
		b.WriteString("\n" + one.Name + ":" + one.Value)
	}
	return b.String()
}

// get returns what other processes have stored at a place, nil for nothing, and when they have started to ask for it.
func (t *sharedStore) get(ctx context.Context, place string) (s *stored, started time.Time) {
	found, ok := t.objects.Get(ctx, place)
	if !ok {
		return nil, started
	}
	took, n := binary.Uvarint(found.Payload)
	size, m := binary.Uvarint(found.Payload[max(n, 0):])
	rest := found.Payload[max(n, 0)+max(m, 0):]
	if n <= 0 || m <= 0 || took > uint64(rules.Longest) || size > uint64(len(rest)) {
		return nil, started
	}
	content := rest[size:]
	if s = parseHead(rest[:size]); s == nil {
		return nil, started
	}
	s.content = body.NewBlocks(bytes.Clone(content)).Body() // without the memory of the rest
	s.Length, s.basis = int64(len(content)), t.config.Basis
	s.Part = rules.Span{Start: 0, End: s.Length}
	s.Received = t.config.Now().Add(-found.Age)
	return s, s.Received.Add(-time.Duration(took))
}

// store shares a response that a flight has stored, where it is complete, small and fresh. Another complete one
// replaces what is shared, too: that would be used in its place.
func (t *sharedStore) store(f *flight, s *stored) {
	now := t.config.Now()
	content, inMemory := body.BlocksIn(s.content)
	if !s.whole() || f.wasForgotten() {
		return
	}
	if !inMemory || s.Length > maxShared || s.UseFor(rules.RequestDirectives{}, now) != rules.UseFresh {
		t.remove(f.key, s)
		return
	}
	copied := s.copied() // for the time of day, which may differ elsewhere, its age is stored
	copied.InitialAge, copied.Received = s.Age(now), time.Unix(0, 0)
	took := now.Sub(f.started)
	payload := func() []byte {
		if f.wasForgotten() || t.outdated.has(f.key, f.started) { // since it was stored
			return nil
		}
		return sharedPayload(took, copied, content)
	}
	subject := strings.Join(append([]string{f.key}, s.Tags()...), "\n")
	for _, place := range sharedPlaces(f.key, s) {
		f.share(place, subject, s.TTL(now), int(s.Length), payload)
	}
}

// remove removes what other processes may have stored where a response would be.
func (t *sharedStore) remove(key string, s *stored) {
	if t.objects == nil {
		return
	}
	for _, place := range sharedPlaces(key, s) {
		t.objects.Delete(place)
	}
}

// sharedPlaces returns where a response for a URI is.
func sharedPlaces(key string, s *stored) []string {
	places := []string{sharedPlace(key, s.Spelling, nil)}
	if len(s.Selectors) > 0 {
		places = append(places, sharedPlace(key, s.Spelling, s.Selectors))
	}
	return places
}

// sharedPayload returns how long a response took, the length of its head, the head, and the content.
func sharedPayload(took time.Duration, s *stored, content body.Blocks) []byte {
	head := s.head()
	made := make([]byte, 0, 2*binary.MaxVarintLen64+len(head)+int(s.Length))
	made = binary.AppendUvarint(made, uint64(max(took, 0)))
	made = append(binary.AppendUvarint(made, uint64(len(head))), head...)
	for _, block := range content {
		made = append(made, block...)
	}
	return made
}

// forget makes what other processes have stored for a URI, or for all of an origin, to be used no more here, and
// removes the responses for the URI, as far as an entry has them; nil has none.
func (t *sharedStore) forget(key string, e *Entry) {
	if t.objects == nil {
		return
	}
	t.outdated.add(key, t.config.Now())
	t.objects.Delete(sharedPlace(key, "", nil))
	if e == nil {
		return
	}
	for _, s := range e.variants {
		t.remove(key, s)
	}
}

// maxInvalidations bounds how many URIs and origins are remembered as invalidated.
const maxInvalidations = 4096

// invalidations are when responses to unsafe requests have invalidated URIs, or groups of an origin: what other
// processes have received before is not used. It is safe for concurrent use.
type invalidations struct {
	mu sync.Mutex
	at map[string]time.Time // by URI or origin
	// all is when there were too many: nothing is used that was received before.
	all time.Time
}

func (i *invalidations) add(key string, now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.at) >= maxInvalidations { // nothing is there any more that was stored before
		maps.DeleteFunc(i.at, func(_ string, at time.Time) bool { return now.Sub(at) > cache.MaxObjectTTL })
	}
	if len(i.at) >= maxInvalidations {
		i.at, i.all = nil, now
		return
	}
	if i.at == nil {
		i.at = make(map[string]time.Time)
	}
	i.at[key] = now
}

// has reports whether what was received for a URI at a time is outdated since.
func (i *invalidations) has(key string, received time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return !received.After(i.all) || i.after(key, received) || i.after(rules.OriginOf(key), received)
}

func (i *invalidations) after(key string, received time.Time) bool {
	at, ok := i.at[key]
	return ok && !received.After(at)
}
