//go:build !linux

package observe

// FreeRoom is not implemented for this system.
func FreeRoom(string) (int64, bool) { return 0, false }
