package disk

import (
	"fmt"
	"hash/maphash"
	"time"
)

// stamp is a hash of the state of a file. Each change by a system call changes it, even if the modification
// time is set back: the change time of the inode cannot be set.
type stamp uint64

// noStamp is the stamp of no file.
const noStamp stamp = 0

// settled is how long a file must be unchanged so that its next change certainly has another time: the
// timestamps of file systems have a resolution of at most 10 ms on Linux, and 2 s on other systems.
const settled = 2 * time.Second

// state is the input of a stamp.
type state struct {
	device, inode           uint64
	size, modified, changed int64  // times in nanoseconds since 1970
	sums                    uint32 // another file may have the same name
}

// stampOf returns the stamp of a file, and whether its next change certainly changes the stamp.
func (s *Store) stampOf(file *file, sumOfSums uint32) (of stamp, isSettled bool, err error) {
	now, err := file.state()
	switch {
	case err != nil:
		return noStamp, false, fmt.Errorf("reading file attributes: %w", err)
	case !isRegular(&now):
		return noStamp, false, errNotRegular
	}
	device := uint64(now.Dev) //nolint:unconvert // another type on other systems
	h := maphash.Comparable(s.index.seed, state{device, now.Ino, now.Size, now.Mtim.Nano(), now.Ctim.Nano(), sumOfSums})
	return max(stamp(h), noStamp+1), s.now().Sub(time.Unix(now.Ctim.Unix())) >= settled, nil
}
