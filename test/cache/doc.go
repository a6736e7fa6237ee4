// Package cache contains the end-to-end tests of the caches (RFC 9111, RFC 5861): which responses are stored,
// shown, purged, refreshed and kept over a restart. Requests and cache commands enter; responses with
// Cache-Status (RFC 9211), the requests at the origin, and files are checked.
package cache
