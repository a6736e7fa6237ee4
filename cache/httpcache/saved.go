package httpcache

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/internal/httpmessage"
)

// savedHead is the head of a stored response on disk and in a second level: see append. What its fields say is parsed again.
type savedHead struct {
	Status        int
	Reason        string
	Spelling      string
	Fields        [][2]string // names and values, of any bytes (RFC 9110 section 5.5)
	Selectors     [][2]string
	Received      time.Time
	InitialAge    time.Duration
	Lifetime      time.Duration
	Explicit      bool
	Directives    savedDirectives
	ValidatedOnly []string
	From          netip.AddrPort
	Purged        bool
	Basis         string
}

// savedDirectives are directives with names of their own.
type savedDirectives struct {
	NoCache, MustRevalidate, Immutable bool
	WhileRevalidate, IfError           time.Duration
}

// head returns the head of a stored response on disk.
func (s *stored) head() []byte {
	h := savedHead{
		Status: s.status, Reason: s.reason, Spelling: s.spelling, Received: s.received.Round(0), InitialAge: s.initialAge,
		Lifetime: s.lifetime, Explicit: s.explicit, From: s.from, Purged: s.purged, Basis: s.basis,
		Directives: savedDirectives{s.noCache, s.mustRevalidate, s.immutable, s.whileRevalidate, s.ifError},
	}
	if s.validatedOnly != nil {
		h.ValidatedOnly = *s.validatedOnly
	}
	h.Fields = make([][2]string, 0, len(s.header))
	for _, f := range s.header {
		h.Fields = append(h.Fields, [2]string{f.Name, f.Value})
	}
	for _, one := range s.selectors {
		h.Selectors = append(h.Selectors, [2]string{one.name, one.value})
	}
	return h.append(make([]byte, 0, h.size()))
}

// fields returns the fields of a head.
func (h *savedHead) fields() httpmessage.Fields {
	fields := make(httpmessage.Fields, 0, len(h.Fields))
	for _, one := range h.Fields {
		fields = append(fields, httpmessage.Field{Name: one[0], Value: one[1]})
	}
	return fields
}

// storedOf returns the stored response of an object on disk, nil where its head is not valid.
func storedOf(o *disk.Object) *stored {
	s := storedOfHead(o.Head())
	if s != nil {
		s.length, s.part, s.saved, s.content = o.Size(), span{0, o.Size()}, o, contentOf(o)
	}
	return s
}

// storedOfHead returns a stored response without its content, nil where the head is not valid.
func storedOfHead(text []byte) *stored {
	var h savedHead
	if !h.parse(text) || h.Status < http.StatusOK {
		return nil
	}
	fields := h.fields()
	s := &stored{record: record{basis: h.Basis, uses: new(uses), response: response{
		status: h.Status, reason: h.Reason, spelling: h.Spelling, header: compacted(fields), received: h.Received, initialAge: h.InitialAge,
		freshness: freshness{h.Lifetime, h.Explicit}, validatedOnly: validatedOnly(h.ValidatedOnly), from: h.From, purged: h.Purged,
		directives: directives{
			h.Directives.NoCache, h.Directives.MustRevalidate, h.Directives.Immutable, h.Directives.WhileRevalidate, h.Directives.IfError,
		},
	}}}
	s.etag = s.header.Value("Etag")
	for _, one := range h.Selectors {
		s.selectors = append(s.selectors, selector{name: one[0], value: one[1]})
	}
	modified, _ := parseDate(fields.Value("Last-Modified"))
	s.modified = secondOf(modified)
	if date, ok := parseDate(fields.Value("Date")); ok {
		s.date = secondOf(date)
	}
	return s
}

// updateDisk makes the disk have what an entry has, in place of another one; the shard is held. A fault
// of the disk costs hits only. after is not published yet.
func (c *Cache) updateDisk(before, after *Entry) {
	if c.config.Disk == nil || before == nil {
		return
	}
	for _, old := range before.variants {
		if old.saved == nil || after.has(old) {
			continue
		}
		changed := after.successor(old)
		if changed == nil {
			_ = c.config.Disk.Remove(old.saved) // the disk tries again
			continue
		}
		var err error
		if changed.saved, err = c.config.Disk.Replace(old.saved, changed.head()); err != nil {
			// Or what is outdated would be found after a restart.
			_ = c.config.Disk.Remove(old.saved)
			changed.saved = nil
		}
		if _, ok := changed.content.(fileContent); ok && changed.saved != nil {
			changed.content = fileContent{changed.saved}
		}
	}
}

// has reports whether a variant is one of an entry.
func (e *Entry) has(s *stored) bool {
	if e == nil {
		return false
	}
	for _, other := range e.variants {
		if other == s {
			return true
		}
	}
	return false
}

// successor returns the variant that has the content of another one, with other fields; nil for none.
func (e *Entry) successor(s *stored) *stored {
	if e == nil {
		return nil
	}
	for _, other := range e.variants {
		if other.saved != nil && other.saved.Is(s.saved) {
			return other
		}
	}
	return nil
}

// forgetLost removes what is in memory for a key and has its content on disk alone: it is looked for
// there again.
func (c *Cache) forgetLost(key string) {
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	c.config.Store.Delete(key)
}

// save makes what has arrived in a spool, nil for none, the object of a response, and reports whether the response has its
// content, in memory or on disk. A fault of the disk costs no more than what is not in memory.
func (s *stored) save(from *spool) bool {
	if from != nil {
		s.saved = from.commit(s.head())
	}
	if s.content == nil && s.saved != nil {
		s.content = fileContent{s.saved}
	}
	return s.content != nil
}
