package health

import (
	"net/http"
)

// Outcome is what a check found.
type Outcome string

// The outcomes.
const (
	Alive     Outcome = "alive"     // it answers
	Guarded   Outcome = "guarded"   // it answers, and wants a password, a payment or another place
	Gone      Outcome = "gone"      // its server says that there is nothing
	Failing   Outcome = "failing"   // its server fails, or cannot be reached
	Later     Outcome = "later"     // its server does not want to be asked now
	Forbidden Outcome = "forbidden" // its address is one that must not be asked
	Unchecked Outcome = "unchecked" // there is no way to check it
)

// good reports whether a target with the outcome is healthy.
func (o Outcome) good() bool { return o == Alive || o == Guarded }

// bad reports whether the outcome speaks against a target.
func (o Outcome) bad() bool { return o == Gone || o == Failing }

// outcomeOf returns the outcome of a status that is not a redirect.
func outcomeOf(status int) Outcome {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden,
		status == http.StatusProxyAuthRequired, status == http.StatusUnavailableForLegalReasons:
		return Guarded
	case status == http.StatusNotFound, status == http.StatusGone:
		return Gone
	case status == http.StatusTooManyRequests:
		return Later
	case status >= http.StatusBadRequest:
		return Failing
	default:
		return Alive
	}
}

// askAgain reports whether a server that answers HEAD so may answer GET otherwise: many do not know HEAD, and
// say so in different ways (RFC 9110 section 9.3.2 requires both to be equal).
func askAgain(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusGone, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return false
	default:
		return status >= http.StatusBadRequest
	}
}
