package rules

import (
	"net/http"
	"slices"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Override is what an administrator sets for responses of a site, whatever their Cache-Control and Expires say of this
// cache: RFC 9111 leaves that to configuration (sections 4.2.2 and 4.2.4), and what clients get is Cache-Control as the
// origin has sent it. The zero value is for all responses with the statuses of Statuses, and changes nothing. It is a
// value of the configuration, which nothing changes.
//
// It never makes a response storable that says private or no-store, has Vary: *, or answers a request with
// Authorization; nor does it make one fresh for longer that sets cookies or answers a request with Authorization: those
// may be there to be validated for each client.
type Override struct {
	// Types are the media types that it is for, as httpmessage.HasType has them.
	// Empty is all, also responses without Content-Type.
	Types []string
	// Statuses are those that it is for. Empty are 200, 203, 204, 300, 301, 308, 404 and 410: those of RFC 9110 section
	// 15.1, but for 405, 414 and 501, which are about requests. 206 is a part of what is 200, and is for the same.
	Statuses []int
	// Never is whether the response is not stored.
	Never bool
	// Least is how long the response is fresh at least, from when the origin made it: Age counts. It replaces no-cache
	// (but not one with names of fields) and smaller lifetimes, also of Expires, and makes other statuses storable. It
	// says, as explicit freshness of an origin does, that the response does not depend on cookies of requests. 0 is none.
	Least time.Duration
	// Most is how long it is fresh at most, also where Least is more; 0 has no bound.
	Most time.Duration
	// WhileRevalidate is for how long after that it may be used while it is validated, where the origin has no
	// stale-while-revalidate: RFC 5861 section 3. It has no effect where the origin says that a stale response must be
	// validated: must-revalidate, proxy-revalidate, s-maxage (RFC 9111 section 5.2.2). 0 is none.
	WhileRevalidate time.Duration
}

// overriddenStatuses are those of an Override without Statuses.
var overriddenStatuses = [...]int{200, 203, 204, 300, 301, 308, 404, 410}

// applies reports whether an override is for a response.
func (o *Override) applies(status int, contentType string) bool {
	statuses := o.Statuses
	if len(statuses) == 0 {
		statuses = overriddenStatuses[:]
	}
	if status == http.StatusPartialContent {
		status = http.StatusOK
	}
	return slices.Contains(statuses, status) && (len(o.Types) == 0 || httpmessage.HasType(contentType, o.Types))
}

// FindOverride returns which of some overrides is for a response, the first one; -1 for none.
func FindOverride(overrides []Override, status int, fields httpmessage.Fields) int {
	for i := range overrides {
		if overrides[i].applies(status, fields.Value("Content-Type")) {
			return i
		}
	}
	return -1
}

// Overridden returns the directives of a response as the first of some overrides says that is for it.
func (c Control) Overridden(overrides []Override, r *httpmessage.Request, got *httpmessage.Response) Control {
	i := FindOverride(overrides, got.Status, got.Fields)
	if i < 0 {
		return c
	}
	c.override, c.authorized = &overrides[i], r.Fields.Has("Authorization")
	return c
}

// never reports whether an override says that a response is not stored.
func (c Control) never() bool { return c.override != nil && c.override.Never }

// least returns Override.Least, 0 where it is not for the response.
func (c Control) least() time.Duration {
	if c.override == nil || c.SetsCookies || c.authorized {
		return 0
	}
	return max(c.override.Least, 0)
}

// bounded returns the freshness that a response has by an override, in place of that by its fields.
func (c Control) bounded(f Freshness) Freshness {
	least := c.least()
	if least > 0 { // also where it changes nothing: a lifetime by a heuristic is a promise then
		f.Explicit = true
	}
	lifetime := max(f.Lifetime, min(least, Longest))
	if c.override != nil && c.override.Most > 0 {
		lifetime = min(lifetime, c.override.Most)
	}
	if lifetime != f.Lifetime {
		f.Lifetime, f.Source = lifetime, SourceOverride
	}
	return f
}
