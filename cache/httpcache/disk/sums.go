package disk

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	sliceSize = 1 << 20 // of a body, with a checksum of its own
	sumSize   = 4
)

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // it is made once

// slicesOf returns the number of slices of a body.
func slicesOf(body int64) int64 { return (body + sliceSize - 1) / sliceSize }

// sums computes the checksums of the slices of what is written to it. The zero value is
// ready.
type sums struct {
	done []byte // the sums of all slices but the last, in the format of the file
	last uint32
	size int64 // of the last slice
}

func (s *sums) write(p []byte) {
	for len(p) > 0 {
		if s.size == sliceSize {
			s.done, s.last, s.size = binary.LittleEndian.AppendUint32(s.done, s.last), 0, 0
		}
		n := min(int64(len(p)), sliceSize-s.size)
		s.last = crc32.Update(s.last, castagnoli(), p[:n])
		s.size += n
		p = p[n:]
	}
}

// bytes returns the sums in the format of the file.
func (s *sums) bytes() []byte {
	if s.size == 0 {
		return s.done
	}
	return binary.LittleEndian.AppendUint32(s.done, s.last)
}
