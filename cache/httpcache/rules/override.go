package rules

import (
	"net/http"
	"slices"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Override is what an administrator sets for the responses of a site, with precedence over their Cache-Control
// and Expires in this cache: RFC 9111 leaves that to configuration (sections 4.2.2 and 4.2.4). Clients get the
// Cache-Control of the origin. The zero value applies to all responses with the default status codes of
// Statuses, and changes nothing. An Override is a value of the configuration, and is immutable.
//
// It never makes a response storable that has private, no-store or Vary: *, or answers a request with
// Authorization. Nor does it extend the lifetime of a response that sets cookies or answers a request with
// Authorization, because such a response may be stored in order to be validated for each client.
type Override struct {
	// Types are the media types it applies to, as in httpmessage.HasType. Empty means all, including responses
	// without Content-Type.
	Types []string
	// Statuses are the status codes it applies to. Empty means 200, 203, 204, 300, 301, 308, 404 and 410: those
	// of RFC 9110 section 15.1 without 405, 414 and 501, which depend on the request. A 206 counts as 200.
	Statuses []int
	// NoStore is whether the response is not stored.
	NoStore bool
	// MinLifetime is the minimum freshness lifetime since the origin generated the response: Age counts. It replaces
	// no-cache (except with field names) and smaller lifetimes, including those of Expires, and makes other
	// status codes storable. Like an explicit lifetime, it asserts that the response does not depend on cookies
	// of requests. 0 is none.
	MinLifetime time.Duration
	// MaxLifetime is the maximum freshness lifetime, even if MinLifetime is greater; 0 is no limit.
	MaxLifetime time.Duration
	// WhileRevalidate is how long after that the response may be served stale during validation, if the origin
	// sends no stale-while-revalidate: RFC 5861 section 3. It has no effect if the origin requires validation
	// of stale responses: must-revalidate, proxy-revalidate, s-maxage (RFC 9111 section 5.2.2). 0 is none.
	WhileRevalidate time.Duration
}

// overriddenStatuses are the default of Override.Statuses.
var overriddenStatuses = [...]int{200, 203, 204, 300, 301, 308, 404, 410}

// applies reports whether an override applies to a response.
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

// FindOverride returns the index of the first override that applies to a response; -1 for none.
func FindOverride(overrides []Override, status int, fields httpmessage.Fields) int {
	for i := range overrides {
		if overrides[i].applies(status, fields.Get("Content-Type")) {
			return i
		}
	}
	return -1
}

// Overridden returns the directives of a response with the first override that applies to it.
func (c Control) Overridden(overrides []Override, r *httpmessage.Request, got *httpmessage.Response) Control {
	i := FindOverride(overrides, got.Status, got.Fields)
	if i < 0 {
		return c
	}
	c.override, c.authorized = &overrides[i], r.Fields.Has("Authorization")
	return c
}

// noStore reports whether an override forbids storing the response.
func (c Control) noStore() bool { return c.override != nil && c.override.NoStore }

// minLifetime returns Override.MinLifetime, 0 if it does not apply to the response.
func (c Control) minLifetime() time.Duration {
	if c.override == nil || c.SetsCookies || c.authorized {
		return 0
	}
	return max(c.override.MinLifetime, 0)
}

// bounded returns the freshness of a response after its override.
func (c Control) bounded(f Freshness) Freshness {
	least := c.minLifetime()
	if least > 0 { // even if the lifetime is longer: it is then explicit, even if by a heuristic
		f.Explicit = true
	}
	lifetime := max(f.Lifetime, min(least, MaxLifetime))
	if c.override != nil && c.override.MaxLifetime > 0 {
		lifetime = min(lifetime, c.override.MaxLifetime)
	}
	if lifetime != f.Lifetime {
		f.Lifetime, f.Source = lifetime, SourceOverride
	}
	return f
}
