package helper

import (
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeOnExec lets no program inherit descriptors that this process has itself inherited, such as sockets of systemd: those that Go opens are
// closed by exec anyway.
func closeOnExec() {
	const first = 3
	if unix.CloseRange(first, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	all, err := os.ReadDir("/proc/self/fd") // Linux before 5.11
	if err != nil {
		return
	}
	for _, entry := range all {
		if n, err := strconv.Atoi(entry.Name()); err == nil && n >= first {
			unix.CloseOnExec(n)
		}
	}
}
