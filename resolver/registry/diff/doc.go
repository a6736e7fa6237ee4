// Package diff computes differences name by name: the effect of a change of many names, or the differences
// between two registries. Entries or changes enter, and differences and their counts leave as text, CSV (RFC
// 4180) or NDJSON. It compares two sorted sequences in constant memory.
package diff
