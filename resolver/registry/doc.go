// Package registry has the names that a site owns: it holds them for decades. Every change makes a new version, and no name is unassigned
// again (RFC 1737 section 2, persistence). It needs a Store, of which packages sqlite and postgres are two, and package registrytest the suite
// that both pass. What is registered is resolved by package lookup.
//
// Whoever acts for a client, as the API, the pages of editors and the commands do, calls package service, which decides what that one may.
//
//   - entry.go, prefix.go, validate.go: what is held of a name or prefix, and what can be
//   - store.go: what a store does
//   - registry.go, search.go, edit.go, batch.go: how entries are found and changed
//   - changeset.go, revert.go, rewrite.go, redact.go: what was changed together, and how that is taken back or done to many
//   - cursor.go, feed.go, reopen.go: how changes of other instances become known, and how a store is opened
//   - actor.go, lease.go: who may do what, and which instance does what
package registry
