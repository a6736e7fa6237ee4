//go:build !linux

package testserver

import "testing"

// SmallDisk skips the test: it is made by the kernel of Linux.
func SmallDisk(t testing.TB) string {
	t.Helper()
	t.Skip("a small file system is only made on Linux")
	return ""
}

// Fill is never called where there is no SmallDisk.
func Fill(testing.TB, string) (makeRoom func()) { return func() {} }
