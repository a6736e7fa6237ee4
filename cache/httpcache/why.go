package httpcache

import (
	"slices"

	"github.com/urnd/urnd/cache/httpcache/rules"
)

// Explanation is what Serve would do with a request, and why. It is a copy.
type Explanation struct {
	// Forwarded is why the request would go to the origin, as Outcome.Forwarded has it, or would fail for its
	// only-if-cached; "" where a stored response would answer it.
	Forwarded string
	// Stale is whether a stored response would answer it while that is validated: RFC 5861 section 3.
	Stale bool
	// Stored is what is stored for the key, the last response first. Selected is which of them the request selects, also
	// where that must be validated; -1 for none.
	Stored   []Info
	Selected int
	// Rule is which of Request.Overrides would be for the selected response; -1 for none, and where none is selected.
	Rule int
}

// Why returns what Serve would do with a request at this time. It decides as Serve does, asks no origin, and changes and
// counts nothing; what other processes share it does not ask for. Request.Found does not count.
//
// Why something is not stored is not remembered: Outcome.NotStored of a request says it.
func (c *Cache) Why(r *Request) Explanation {
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
	e.Stale = use == rules.UseStale || use == rules.UseWhileRevalidated
	return e
}
