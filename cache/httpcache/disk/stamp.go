package disk

import (
	"fmt"
	"hash/maphash"
	"time"
)

// stamp stands for a file as it is. Each change by a system call gives the file another one, also where the
// time of its modification is set back: the time of the change of its inode cannot be set.
type stamp uint64

// noStamp is that of no file.
const noStamp stamp = 0

// settled is how long a file must be unchanged so that its next change surely shows another time: the clocks of
// file systems have steps, of at most 10 ms on those of Linux, and 2 s on others.
const settled = 2 * time.Second

// state is what a stamp is made of.
type state struct {
	device, inode           uint64
	size, modified, changed int64  // times in nanoseconds since 1970
	sums                    uint32 // the file may be another one by the same name
}

// stampOf returns the stamp of a file, and whether the next change surely gives it another one.
func (s *Store) stampOf(file *file, sumOfSums uint32) (of stamp, isSettled bool, err error) {
	now, err := file.state()
	switch {
	case err != nil:
		return noStamp, false, fmt.Errorf("asking for the state of a file: %w", err)
	case !isRegular(&now):
		return noStamp, false, errNotRegular
	}
	device := uint64(now.Dev) //nolint:unconvert // it is another type on other systems
	h := maphash.Comparable(s.index.seed, state{device, now.Ino, now.Size, now.Mtim.Nano(), now.Ctim.Nano(), sumOfSums})
	return max(stamp(h), noStamp+1), s.now().Sub(time.Unix(now.Ctim.Unix())) >= settled, nil
}
