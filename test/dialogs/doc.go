// Package dialogs is a regression test of the HTTP interface (RFC 9110, RFC 9112, RFC 9113): it plays recorded
// requests against the built program with scripted peers, and compares all bytes that clients receive, after
// normalization, with the recordings in testdata. See README.md.
package dialogs
