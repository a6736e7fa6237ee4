// Package field has the tables of the fields of an entry: one of registry.Record, and one of registry.Target. Tables of
// CSV, NDJSON, the documents of the API, differences, merges, forms, flags and the audit range over them, so that a new
// field is a row here.
package field
