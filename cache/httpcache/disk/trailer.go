package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Limits of the format.
const (
	// MaxHead is the maximum length of a head in bytes.
	MaxHead = 256 << 10
	// MaxKey is the maximum length of a key in bytes.
	MaxKey = 64 << 10

	maxBody    = 1 << 40
	maxTrailer = MaxKey + MaxHead + footerSize
	maxFile    = maxBody + maxBody/sliceSize*sumSize + 3*maxTrailer
)

// ErrCorrupt means that a file differs from what was written. It is removed.
var ErrCorrupt = errors.New("corrupt file")

// trailer is the end of a file; doc.go has its format.
type trailer struct {
	body      int64 // length
	key       string
	head      []byte
	sumOfSums uint32
}

const (
	footerSize    = 32 // length of the trailer without key and head
	magic         = "urnd"
	formatVersion = 1
)

// contentSize returns the length of the body and its checksums, which the trailer follows.
func (t trailer) contentSize() int64 { return t.body + slicesOf(t.body)*sumSize }

// size returns the length of the trailer.
func (t trailer) size() int64 { return int64(len(t.key) + len(t.head) + footerSize) }

// append appends the encoded trailer to b.
func (t trailer) append(b []byte) []byte {
	start := len(b)
	b = append(append(b, t.key...), t.head...)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint16(b, formatVersion)
	b = binary.LittleEndian.AppendUint16(b, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(t.body))      //nolint:gosec // not negative
	b = binary.LittleEndian.AppendUint32(b, uint32(len(t.key)))  //nolint:gosec // at most MaxKey
	b = binary.LittleEndian.AppendUint32(b, uint32(len(t.head))) //nolint:gosec // at most MaxHead
	b = binary.LittleEndian.AppendUint32(b, t.sumOfSums)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli()))
}

// trailerSize returns the length of a trailer, by its footer.
func trailerSize(footer []byte) (int64, error) {
	if len(footer) != footerSize || string(footer[:4]) != magic {
		return 0, fmt.Errorf("%w: no trailer of this store", ErrCorrupt)
	}
	if version := binary.LittleEndian.Uint16(footer[4:]); version != formatVersion {
		return 0, fmt.Errorf("%w: unknown version %d", ErrCorrupt, version)
	}
	key, head := binary.LittleEndian.Uint32(footer[16:]), binary.LittleEndian.Uint32(footer[20:])
	if key > MaxKey || head > MaxHead {
		return 0, fmt.Errorf("%w: key of %d and head of %d bytes too long", ErrCorrupt, key, head)
	}
	return int64(key) + int64(head) + footerSize, nil
}

// parseTrailer parses a complete trailer, which ends at the offset end of its file. The head shares the memory
// of b.
func parseTrailer(b []byte, end int64) (trailer, error) {
	if len(b) < footerSize {
		return trailer{}, fmt.Errorf("%w: truncated", ErrCorrupt)
	}
	footer := b[len(b)-footerSize:]
	size, err := trailerSize(footer)
	if err != nil {
		return trailer{}, err
	}
	if size != int64(len(b)) {
		return trailer{}, fmt.Errorf("%w: trailer of %d bytes instead of %d", ErrCorrupt, len(b), size)
	}
	covered := b[:len(b)-sumSize]
	if binary.LittleEndian.Uint32(b[len(covered):]) != crc32.Checksum(covered, castagnoli()) {
		return trailer{}, fmt.Errorf("%w: checksum mismatch of the head", ErrCorrupt)
	}
	body := binary.LittleEndian.Uint64(footer[8:])
	if body > maxBody {
		return trailer{}, fmt.Errorf("%w: body of %d bytes too long", ErrCorrupt, body)
	}
	keySize := binary.LittleEndian.Uint32(footer[16:])
	t := trailer{
		body: int64(body),
		key:  string(b[:keySize]), head: b[keySize : len(b)-footerSize : len(b)-footerSize],
		sumOfSums: binary.LittleEndian.Uint32(footer[24:]),
	}
	if t.contentSize()+size > end {
		return trailer{}, fmt.Errorf("%w: %d bytes are too few for a body of %d", ErrCorrupt, end, body)
	}
	return t, nil
}
