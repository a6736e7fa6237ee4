package httpcache

import (
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/internal/httpmessage"
)

// stored is a stored response. But for its memo it is immutable; its content may still be arriving.
type stored struct {
	record
	// memo is what a caller has made of it, nil for nothing: see Ready.Memo.
	memo atomic.Pointer[Memo]
}

// record is what is stored of a response. A changed response has a changed copy.
type record struct {
	status int
	reason string
	// spelling is Request.Spelling.
	spelling string
	header   httpmessage.Fields // shared: never written to
	// selectors are what the response was selected by, in the order of their names.
	selectors []selector
	directives
	etag     string // "" for none
	modified second // Last-Modified
	date     second // Date, or when it was received
	// received is when the response was, and initialAge its age then.
	received   time.Time
	initialAge time.Duration
	freshness
	content content
	// part is the part of the representation that content is; length is that of the whole, -1
	// if unknown.
	part   span
	length int64
	from   netip.AddrPort
	// saved is the object on disk, nil for none. It has the same content.
	saved *disk.Object
	basis string // Config.Basis
	// purged is whether it must be validated before it is used: a soft purge, or an invalidation.
	purged bool
	// validatedOnly are those of the fields that are sent only after a validation: no-cache with names; nil for none, as nearly always.
	validatedOnly *[]string
	// uses is when it was used; changed copies share it.
	uses *uses
}

// isSame reports whether two values are of the same stored response, which may have come from disk again, or into memory, meanwhile.
func (s *stored) isSame(other *stored) bool {
	return s == other || s.saved != nil && other.saved != nil && s.saved.Is(other.saved)
}

// copied returns a copy of a stored response to be changed, without its memo.
func (s *stored) copied() *stored { return &stored{record: s.record} }

// directives are what Cache-Control of a stored response says about its use.
type directives struct {
	noCache         bool // without names
	mustRevalidate  bool // stale it must not be used: must-revalidate, proxy-revalidate, s-maxage, no-cache
	immutable       bool
	whileRevalidate time.Duration // RFC 5861; 0 for none
	ifError         time.Duration // likewise; -1 for none
}

// validatedOnly returns names for record.validatedOnly.
func validatedOnly(names []string) *[]string {
	if len(names) == 0 {
		return nil
	}
	return &names
}

// directivesOf returns what the directives of a response say about its use.
func directivesOf(d cachecontrol.Directives) (directives, []string) {
	names := fieldNames(d.Fields("no-cache"))
	_, sMaxAge := d.Seconds("s-maxage")
	all := d.Has("no-cache") && len(names) == 0
	whileRevalidate, _ := d.Seconds("stale-while-revalidate")
	ifError, limited := d.Seconds("stale-if-error")
	if !limited {
		ifError = -1
	}
	return directives{
		noCache:        all,
		mustRevalidate: all || sMaxAge || d.Has("must-revalidate") || d.Has("proxy-revalidate"),
		immutable:      d.Has("immutable"), whileRevalidate: whileRevalidate, ifError: ifError,
	}, names
}

// age returns the age of a stored response: RFC 9111 section 4.2.3. The time that it was stored is
// the greater one of two: a monotonic clock, which does not see a wall clock that is set back, may
// stand still while the machine sleeps.
func (s *stored) age(now time.Time) time.Duration {
	resident := max(now.Sub(s.received), now.Round(0).Sub(s.received.Round(0)), 0)
	return s.initialAge + min(resident, longest)
}

// longest bounds ages and lifetimes, so that no sum of them overflows: RFC 9111 section 1.2.2.
const longest = (1<<31 - 1) * time.Second

// isComplete reports whether the content has arrived.
func (s *stored) isComplete() bool {
	_, arriving := s.content.(*body)
	return !arriving
}

// ttl returns how long it is still fresh; it is negative for a stale one.
func (s *stored) ttl(now time.Time) time.Duration { return s.lifetime - s.age(now) }

// isPartial reports whether only a part of the representation is stored.
func (s *stored) isPartial() bool { return s.status == http.StatusPartialContent }

// hasValidator reports whether it can be validated: RFC 9110 section 8.8.
func (s *stored) hasValidator() bool { return s.etag != "" || s.modified != 0 }

// isStrong reports whether an entity tag is a strong validator: RFC 9110 section 8.8.3.
func isStrong(etag string) bool { return strings.HasPrefix(etag, `"`) }

// Entry is what is stored for a URI, in all of its spellings: its variants, RFC 9111 section 4.1, the last one
// first. It is immutable.
type Entry struct {
	variants []*stored
	// uncollapsed is until when requests of a kind do not wait for each other: their responses were not for all.
	// It is never written to.
	uncollapsed map[kind]time.Time
	// unconditional is whether the conditions of clients are not passed on, so that a response
	// can be stored.
	unconditional bool
	// memory is its size, 0 where it was not measured.
	memory int
}

// tagged returns the complete variants that have a strong entity tag. A weak one does not name a
// variant: nginx gives the same to all content codings, and compares it with that of the plain one.
func (e *Entry) tagged() []*stored {
	var tagged []*stored
	for _, s := range e.variants {
		if isStrong(s.etag) && !s.isPartial() {
			tagged = append(tagged, s)
		}
	}
	return tagged
}
