package http1

import (
	"encoding/binary"
	"unsafe"
)

// isToken reports whether a text is a token: RFC 9110 section 5.6.2. Names of fields mostly have nothing but letters and
// hyphens, of which it looks at eight at a time.
func isToken(text string) bool {
	if len(text) < 8 {
		return text != "" && spanToken(text) == len(text)
	}
	b := unsafe.Slice(unsafe.StringData(text), len(text)) //nolint:gosec // it is read alone
	common := lettersAndHyphens(binary.LittleEndian.Uint64(b[len(b)-8:]))
	for ; len(b) > 8; b = b[8:] {
		common &= lettersAndHyphens(binary.LittleEndian.Uint64(b))
	}
	return common&highBits == highBits || spanToken(text) == len(text)
}

// lettersAndHyphens sets the high bit of each of eight bytes that is an ASCII letter or a hyphen. Without high bits no
// sum carries into the next byte.
func lettersAndHyphens(x uint64) uint64 {
	low := x &^ highBits
	folded := low | 0x20*everyByte
	letters := (folded + (0x80-'a')*everyByte) &^ (folded + (0x7f-'z')*everyByte)
	others := (low ^ '-'*everyByte) + 0x7f*everyByte
	return (letters | ^others) &^ x
}

// hasControls reports whether a text has a control character below the space: RFC 5234 appendix B.1. It looks at eight
// bytes at a time.
func hasControls(text string) bool {
	b := unsafe.Slice(unsafe.StringData(text), len(text)) //nolint:gosec // it is read alone
	if len(b) < 8 {
		for _, c := range b {
			if c < ' ' {
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

// controls sets the high bit of a byte where one of eight bytes is below the space.
func controls(x uint64) uint64 { return (x - ' '*everyByte) &^ x }
