// Package field has the tables of the fields of an entry: one for registry.Record, one for registry.Target. A
// record enters and leaves as text of a CSV cell, a JSON member (RFC 8259), a binary form or lines for
// display; differences and merges compare two of them. CSV, NDJSON, API documents, differences, merges,
// forms, flags and the audit iterate over the tables, so that a new field is one new row.
package field
