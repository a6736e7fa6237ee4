//go:build !linux

package sqlite

// isFull reports whether the file system of a file is full, as far as that is known.
func isFull(string) bool { return false }

// isReadOnly reports whether the file system of a file is read-only, as far as that is known.
func isReadOnly(string) bool { return false }
