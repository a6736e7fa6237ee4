//go:build !linux

package testserver

import "testing"

// SmallDisk skips the test, because it requires Linux.
func SmallDisk(t testing.TB) string {
	t.Helper()
	t.Skip("a small file system is only made on Linux")
	return ""
}

// Fill is never called without a SmallDisk.
func Fill(testing.TB, string) (makeRoom func()) { return func() {} }
