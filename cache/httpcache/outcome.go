package httpcache

import (
	"cmp"
	"strconv"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache/rules"
)

// Outcome describes how a request was answered, for Cache-Status (RFC 9211) and for observers.
type Outcome struct {
	// Forwarded is why the request went to the origin, "" for a cache hit.
	Forwarded string
	// OriginStatus is the status code of the origin if the answer has another one, otherwise 0.
	OriginStatus int
	TTL          time.Duration
	HasTTL       bool
	Stored       bool
	Collapsed    bool
	Stale        bool // the answer is stale
	// NotStored is why the response of the origin to a cacheable GET is not stored; the zero value if it is
	// stored, and for hits. It is the detail in Cache-Status if Detail is empty: RFC 9211 section 2.8.
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

// Hit reports whether the answer came from the cache without the origin.
func (o Outcome) Hit() bool { return o.Forwarded == "" }

// Status returns the Cache-Status member for a cache with this name.
func (o Outcome) Status(name string) string {
	if o == (Outcome{Forwarded: fwdURIMiss, NotStored: o.NotStored}) && name == "urnd" { // the usual miss
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

// missStatuses are pre-rendered results of Status for misses that are not stored, by reason.
var missStatuses = newMissStatuses()

func newMissStatuses() []string {
	all := []string{rules.ReasonNone: "urnd; fwd=uri-miss"}
	for _, why := range rules.Reasons() {
		all = append(all, "urnd; fwd=uri-miss; detail="+why.Code())
	}
	return all
}

// Stats are the numbers of answers since the cache was created.
type Stats struct {
	Hits, Stale, Validated, Collapsed, Misses, Failures uint64
}

type counts struct{ hits, stale, validated, collapsed, misses, failures cache.Counter }

func (c *counts) add(a *Response, err error) {
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
