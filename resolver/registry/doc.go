// Package registry manages the identifiers that a site owns, and keeps every version of them. Canonical names,
// prefixes, records and edits enter; entries, their history, change sets and typed errors leave, all of them
// persisted by a Store (packages sqlite and postgres implement it, package registrytest tests both). Each
// change appends a version and no name is ever unassigned, which is the persistence that RFC 1737 section 2
// requires. Package lookup resolves the registered names.
//
// Callers that act for a client (the API, the editor's pages, the commands) use package service, which checks
// permissions.
//
//   - entry.go, prefix.go, validate.go: the content of a name or prefix, and its validation
//   - store.go: the interface of a store
//   - registry.go, search.go, edit.go, batch.go: how entries are found and changed
//   - changeset.go, revert.go, rewrite.go, redact.go: change sets, and how they are reverted or applied to many
//     entries
//   - cursor.go, feed.go, reopen.go: how changes of other instances are noticed, and how a store is opened
//   - actor.go, lease.go: permissions of actors, and coordination of instances
package registry
