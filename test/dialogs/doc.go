// Package dialogs plays recorded requests against the built program, and compares what clients see: see README.md.
package dialogs
