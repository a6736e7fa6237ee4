package disk

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	sliceSize = 1 << 20 // of a body, with its own checksum
	sumSize   = 4
)

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // the package computes it once

// slicesOf returns the number of slices of a body.
func slicesOf(body int64) int64 { return (body + sliceSize - 1) / sliceSize }

// sums computes the checksums of the slices, of each bytes, of what is written to it. It is not safe for
// concurrent use.
type sums struct {
	each int64
	done []byte // checksums of all slices but the last, in the format of the file
	last uint32
	size int64 // of the last slice
}

func (s *sums) write(p []byte) {
	for len(p) > 0 {
		if s.size == s.each {
			s.done, s.last, s.size = binary.LittleEndian.AppendUint32(s.done, s.last), 0, 0
		}
		n := min(int64(len(p)), s.each-s.size)
		s.last = crc32.Update(s.last, castagnoli(), p[:n])
		s.size += n
		p = p[n:]
	}
}

// bytes returns the checksums in the format of the file.
func (s *sums) bytes() []byte {
	if s.size == 0 {
		return s.done
	}
	return binary.LittleEndian.AppendUint32(s.done, s.last)
}

// of returns the checksum of a slice and its size in bytes; 0 if there is no such slice.
func (s *sums) of(slice int64) (sum uint32, size int64) {
	switch whole := int64(len(s.done) / sumSize); {
	case slice < whole:
		return binary.LittleEndian.Uint32(s.done[slice*sumSize:]), s.each
	case slice == whole:
		return s.last, s.size
	default:
		return 0, 0
	}
}
