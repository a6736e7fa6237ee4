//go:build !linux

package observe

// FreeSpace reports nothing on this system: ok is false.
func FreeSpace(string) (int64, bool) { return 0, false }
