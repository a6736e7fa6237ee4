package httpmessage

import (
	"encoding/binary"
	"unsafe"
)

// AppendValue appends the value of a field as a sender may send it: with a space for each control character, the horizontal tab
// aside, among which are those that could begin another line: RFC 9110 section 5.5.
func AppendValue(b []byte, value string) []byte {
	start := len(b)
	b = append(b, value...)
	if mayHaveControls(value) {
		for i, c := range b[start:] {
			if c < ' ' && c != '\t' || c == del {
				b[start+i] = ' '
			}
		}
	}
	return b
}

const (
	del       = 0x7f
	everyByte = 0x0101010101010101 // times a byte: that byte eight times
	highBits  = 0x80 * everyByte
)

// mayHaveControls reports false for a text without a byte below the space, and without DEL: nearly all. It looks at eight
// bytes at a time.
func mayHaveControls(text string) bool {
	b := unsafe.Slice(unsafe.StringData(text), len(text)) //nolint:gosec // it is read alone
	if len(b) < 8 {
		for _, c := range b {
			if c < ' ' || c == del {
				return true
			}
		}
		return false
	}
	found := controls(binary.LittleEndian.Uint64(b[len(b)-8:]))
	for ; len(b) > 8; b = b[8:] {
		found |= controls(binary.LittleEndian.Uint64(b))
	}
	return found&highBits != 0
}

// controls sets the high bit of a byte where one of eight bytes is a control character: a borrow of the subtractions can set
// that of another one, too.
func controls(x uint64) uint64 {
	y := x ^ del*everyByte
	return (x-' '*everyByte)&^x | (y-everyByte)&^y
}
