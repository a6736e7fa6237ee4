//go:build !linux

package sqlite

// isFull reports whether the file system of a file is known to have no more room.
func isFull(string) bool { return false }

// isReadOnly reports whether the file system of a file is known to be read-only.
func isReadOnly(string) bool { return false }
