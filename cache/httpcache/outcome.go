package httpcache

import (
	"cmp"
	"strconv"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache/rules"
)

// Outcome is how a response came about, for Cache-Status (RFC 9211) and for observers.
type Outcome struct {
	// Forwarded is why the request went to the origin, "" for a hit.
	Forwarded string
	// OriginStatus is the status of the origin where it is another one than that of the answer; 0
	// otherwise.
	OriginStatus int
	TTL          time.Duration
	HasTTL       bool
	Stored       bool
	Collapsed    bool
	Stale        bool // it is stale
	// NotStored is why what the origin has sent, to a GET that the cache could answer, is not stored; the zero value for
	// what is, and for hits. It is what Cache-Status has as its detail where there is no other one: RFC 9211 section 2.8.
	NotStored NotStored
	Detail    string // a token, "" for none
}

// The reasons to forward a request: RFC 9211 section 2.2.
const (
	fwdBypass   = "bypass"
	fwdMethod   = "method"
	fwdURIMiss  = "uri-miss"
	fwdVaryMiss = "vary-miss"
	fwdRequest  = "request"
	fwdStale    = "stale"
	fwdPartial  = "partial"
)

// Hit reports whether the answer came from the cache alone.
func (o Outcome) Hit() bool { return o.Forwarded == "" }

// Status returns the member of Cache-Status for a cache of a name.
func (o Outcome) Status(name string) string {
	if o == (Outcome{Forwarded: fwdURIMiss, NotStored: o.NotStored}) && name == "urnd" { // as most that are not stored
		return missStatuses[o.NotStored]
	}
	return string(o.AppendStatus(make([]byte, 0, 64), name))
}

// AppendStatus appends what Status returns.
func (o Outcome) AppendStatus(b []byte, name string) []byte {
	b = append(b, name...)
	if o.Hit() {
		b = append(b, "; hit"...)
	} else {
		b = append(append(b, "; fwd="...), o.Forwarded...)
	}
	if o.OriginStatus != 0 {
		b = strconv.AppendInt(append(b, "; fwd-status="...), int64(o.OriginStatus), 10)
	}
	if o.Stored {
		b = append(b, "; stored"...)
	}
	if o.Collapsed {
		b = append(b, "; collapsed"...)
	}
	if o.HasTTL {
		b = strconv.AppendInt(append(b, "; ttl="...), int64(o.TTL/time.Second), 10)
	}
	if detail := cmp.Or(o.Detail, o.NotStored.Code()); detail != "" {
		b = append(append(b, "; detail="...), detail...)
	}
	return b
}

// missStatuses are what Status returns of most that are not stored, by why.
var missStatuses = newMissStatuses()

func newMissStatuses() []string {
	all := []string{rules.ReasonNone: "urnd; fwd=uri-miss"}
	for _, why := range rules.Reasons() {
		all = append(all, "urnd; fwd=uri-miss; detail="+why.Code())
	}
	return all
}

// Counts are how requests were answered, since the cache was made.
type Counts struct {
	Hits, Stale, Validated, Collapsed, Misses, Failures uint64
}

type counts struct{ hits, stale, validated, collapsed, misses, failures cache.Counter }

func (c *counts) add(a *Answer, err error) {
	switch {
	case err != nil:
		c.failures.Add(1)
	case a.Outcome.Hit() && a.Outcome.Stale:
		c.stale.Add(1)
	case a.Outcome.Hit():
		c.hits.Add(1)
	case a.Outcome.OriginStatus == 304:
		c.validated.Add(1)
	case a.Outcome.Collapsed:
		c.collapsed.Add(1)
	default:
		c.misses.Add(1)
	}
}
