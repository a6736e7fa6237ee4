// Package registry is the resolution system for the names that a site owns: it holds
// them for decades. Every change makes a new version, and no name is unassigned again (RFC
// 1737 section 2, persistence). It needs a Store, of which package sqlite and package postgres are
// two, and package registrytest the suite that both pass.
//
// Whoever acts for a client, as the API, the pages of editors and the commands do, calls package service, which decides what that one may.
//
//   - entry.go: what is held of a name or prefix; encoding.go: as octets
//   - store.go: what a store does, and the tables that the registry has there beside entries
//   - registry.go, edit.go, validate.go: how entries are read and changed, by whom
//   - resolver.go, status.go, targets.go: how names are resolved
//   - mint.go, mintpattern.go, mintcheck.go: the next free names of a pattern
//   - feed.go, reopen.go: how changes of other instances become known, and how a store is opened
//   - token.go, tokencheck.go, role.go: who may do what
package registry
