// Package rules decides what a shared cache may store and reuse. Requests, responses, stored responses and
// times enter; verdicts, reasons and fields leave. It implements RFC 9111, with the extensions of RFC 5861
// (stale-while-revalidate, stale-if-error), RFC 8246 (immutable), RFC 9213 (targeted Cache-Control) and RFC
// 9875 (groups). It consists of pure functions: it has no state, and the current time is a parameter.
package rules
