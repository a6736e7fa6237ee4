package httpcache

import (
	"slices"

	"github.com/urnd/urnd/cache/httpcache/rules"
)

// Explanation is what Serve would do with a request, and why. It is a copy.
type Explanation struct {
	// Forwarded is why the request would go to the origin, as in Outcome.Forwarded, or would fail by
	// only-if-cached; "" if a stored response would answer it.
	Forwarded string
	// Stale is whether a stale response would answer it during validation: RFC 5861 section 3.
	Stale bool
	// Stored are the stored responses of the key, the latest first. Selected is the index of the one that the
	// request selects, even if it must be validated; -1 for none.
	Stored   []Info
	Selected int
	// Rule is the index in Request.Overrides of the rule for the selected response; -1 for none.
	Rule int
}

// Explain returns what Serve would do with a request now. It decides as Serve does, but does not query the origin
// or the shared store, ignores Request.Found, and changes no state and no counter.
//
// The cache does not remember why a response was not stored: see Outcome.NotStored of a request.
func (c *Cache) Explain(r *Request) Explanation {
	x := &exchange{cache: c, r: r, requested: rules.ParseRequest(r.Fields)}
	entry := c.purges.apply(r.Key, c.storage.find(r.Key))
	e := Explanation{Stored: entry.infos(c.config.Now()), Selected: -1, Rule: -1}
	if !r.retrieves() || r.Body != nil {
		e.Forwarded = x.unsafeReason()
		return e
	}
	x.choose(entry)
	if x.selected != nil {
		e.Selected = slices.Index(entry.variants, x.selected)
		e.Rule = rules.FindOverride(r.Overrides, x.selected.Status, x.selected.Fields)
	}
	if e.Forwarded = x.passes(); e.Forwarded != "" {
		return e
	}
	var use rules.Use
	e.Forwarded, use = x.usable()
	e.Stale = use == rules.UseStale || use == rules.UseWhileRevalidating
	return e
}
