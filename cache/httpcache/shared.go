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

// sharedStore stores responses that several processes share. Each is stored under its URI, and, if request
// fields selected it, also under the URI with these fields. The object under the URI alone is the latest: it
// usually is the requested one, and otherwise names the selecting fields. It is safe for concurrent use.
type sharedStore struct {
	config  *Config
	objects cache.Objects // nil for none
	// outdated are local invalidations of objects that other processes stored.
	outdated invalidations
}

// maxShared is the maximum length of a shared body in bytes.
const maxShared = 64 << 10

// webKey reports whether a canonical URI is http or https. Other URIs may be local to this machine, such as
// files.
func webKey(key string) bool {
	return strings.HasPrefix(key, "http:") || strings.HasPrefix(key, "https:")
}

// sharedPlace returns the key of a response in the shared store. Neither URIs nor field values have line feeds.
func sharedPlace(key, spelling string, selectors []rules.Selector) string {
	var b strings.Builder
	b.WriteString(key + "\n" + spelling)
	for _, one := range selectors {
		b.WriteString("\n" + one.Name + ":" + one.Value)
	}
	return b.String()
}

// get returns the response stored at place, nil for none, and when its process began to request it.
func (t *sharedStore) get(ctx context.Context, place string) (s *stored, started time.Time) {
	found, ok := t.objects.Get(ctx, place)
	if !ok {
		return nil, started
	}
	took, n := binary.Uvarint(found.Payload)
	size, m := binary.Uvarint(found.Payload[max(n, 0):])
	rest := found.Payload[max(n, 0)+max(m, 0):]
	if n <= 0 || m <= 0 || took > uint64(rules.MaxLifetime) || size > uint64(len(rest)) {
		return nil, started
	}
	content := rest[size:]
	if s = parseHead(rest[:size]); s == nil {
		return nil, started
	}
	s.content = body.NewBlocks(bytes.Clone(content)).Body() // a copy, so that the rest of the payload is not retained
	s.Length, s.basis = int64(len(content)), t.config.Basis
	s.Part = rules.Span{Start: 0, End: s.Length}
	s.Received = t.config.Now().Add(-found.Age)
	return s, s.Received.Add(-time.Duration(took))
}

// store shares a response that a flight has stored, if it is complete, small and fresh. Another complete
// response removes the shared one, which would otherwise be used in its place.
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
	copied := s.copied() // stored with its age instead of a time of day, because clocks of other machines differ
	copied.InitialAge, copied.Received = s.Age(now), time.Unix(0, 0)
	took := now.Sub(f.started)
	payload := func() []byte {
		if f.wasForgotten() || t.outdated.has(f.key, f.started) { // invalidated since it was stored
			return nil
		}
		return sharedPayload(took, copied, content)
	}
	subject := strings.Join(append([]string{f.key}, s.Tags()...), "\n")
	for _, place := range sharedPlaces(f.key, s) {
		f.share(place, subject, s.TTL(now), int(s.Length), payload)
	}
}

// remove removes the objects of a response from the shared store.
func (t *sharedStore) remove(key string, s *stored) {
	if t.objects == nil {
		return
	}
	for _, place := range sharedPlaces(key, s) {
		t.objects.Delete(place)
	}
}

// sharedPlaces returns the keys of a response in the shared store.
func sharedPlaces(key string, s *stored) []string {
	places := []string{sharedPlace(key, s.Spelling, nil)}
	if len(s.Selectors) > 0 {
		places = append(places, sharedPlace(key, s.Spelling, s.Selectors))
	}
	return places
}

// sharedPayload returns the serialized response: how long the request took, the length of the head, the head,
// and the content.
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

// forget makes the objects for a URI, or for an origin, that other processes stored before unusable in this
// process. It also removes the objects of the URI and of the variants of e, which may be nil.
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

// maxInvalidations limits how many URIs and origins are remembered as invalidated.
const maxInvalidations = 4096

// invalidations are the times at which unsafe requests invalidated URIs, or groups of an origin: responses that
// other processes received before are not used. It is safe for concurrent use.
type invalidations struct {
	mu sync.Mutex
	at map[string]time.Time // by URI or origin
	// all is when the limit was exceeded: no response received before is used.
	all time.Time
}

func (i *invalidations) add(key string, now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.at) >= maxInvalidations { // objects stored before have expired
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

// has reports whether a response received at that time is outdated.
func (i *invalidations) has(key string, received time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return !received.After(i.all) || i.after(key, received) || i.after(rules.OriginOf(key), received)
}

func (i *invalidations) after(key string, received time.Time) bool {
	at, ok := i.at[key]
	return ok && !received.After(at)
}
