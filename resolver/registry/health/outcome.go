package health

import (
	"net/http"
)

// Outcome is the outcome of a check.
type Outcome string

// The outcomes.
const (
	Alive     Outcome = "alive"     // the server responds
	Guarded   Outcome = "guarded"   // the server responds, but demands authentication or a payment, or denies access
	Gone      Outcome = "gone"      // the server responds that the resource is missing
	Failing   Outcome = "failing"   // the server fails, or is unreachable
	Later     Outcome = "later"     // the server has requested a delay
	Forbidden Outcome = "forbidden" // the address is not an allowed destination
	Unchecked Outcome = "unchecked" // the scheme cannot be checked
)

// good reports whether a target with the outcome is healthy.
func (o Outcome) good() bool { return o == Alive || o == Guarded }

// bad reports whether the outcome counts as a failure.
func (o Outcome) bad() bool { return o == Gone || o == Failing }

// outcomeOf returns the outcome of a status other than a redirect.
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

// retryWithGET reports whether GET may have another status than HEAD. Many servers do not support HEAD, and
// respond with various errors, although RFC 9110 section 9.3.2 requires both to be equal.
func retryWithGET(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusGone, http.StatusTooManyRequests,
		http.StatusServiceUnavailable:
		return false
	default:
		return status >= http.StatusBadRequest
	}
}
