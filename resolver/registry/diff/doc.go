// Package diff says what differs, name by name: what a change of many names would do, and what differs between two registries. It is
// printed as text, CSV or NDJSON.
package diff
