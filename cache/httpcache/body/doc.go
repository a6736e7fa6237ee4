// Package body streams the bodies of responses to clients: those that are stored, in memory or on disk, and those that
// arrive, which several clients read at a pace of their own while they are stored.
package body
