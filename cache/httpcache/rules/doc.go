// Package rules says what a shared cache may store, and use, of responses: RFC 9111, with the extensions of RFC 5861
// (stale-while-revalidate, stale-if-error), RFC 8246 (immutable), RFC 9213 (targeted Cache-Control) and RFC 9875
// (groups).
//
// All of it are pure functions of header fields and times: it has no state, and no clock but as a parameter.
package rules
