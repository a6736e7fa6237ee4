//go:build !linux

package observe

// FreeRoom knows nothing of other systems.
func FreeRoom(string) (int64, bool) { return 0, false }
