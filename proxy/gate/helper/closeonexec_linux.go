package helper

import (
	"math"

	"golang.org/x/sys/unix"
)

// closeOnExec prevents programs from inheriting the descriptors that this process has itself inherited, such
// as sockets of systemd. Go sets close-on-exec on those that it opens.
func closeOnExec() {
	const first, most = 3, 1 << 16
	if unix.CloseRange(first, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	var limit unix.Rlimit // Linux before 5.11
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return
	}
	for fd := range int(min(limit.Cur, most)) {
		if fd >= first {
			unix.CloseOnExec(fd)
		}
	}
}
