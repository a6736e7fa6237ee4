// Package store is the store of the registry in SQL: one schema and one set of statements for the databases that its
// subpackages connect to. A Database runs statements within its transactions; New makes a registry.Store of it.
//
// The statements have parameters "$1", in any order, and "IN ($1...)" for one that is a list.
package store
