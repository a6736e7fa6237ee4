package http1

import (
	"encoding/binary"
	"math/bits"
	"net/http"
	"strconv"
	"unsafe"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/internal/httpmessage"
)

// tokenBytes are the bytes of a token: RFC 9110 section 5.6.2.
var tokenBytes = func() (table [256]bool) {
	for i := range table {
		table[i] = httpguts.IsTokenRune(rune(i))
	}
	return table
}()

// spanToken returns how many bytes of a token a text begins with.
func spanToken(text string) int {
	for i := range len(text) {
		if !tokenBytes[text[i]] {
			return i
		}
	}
	return len(text)
}

const (
	everyByte = 0x0101010101010101 // times a byte: that byte eight times
	highBits  = 0x80 * everyByte
	del       = 0x7f
)

// spanAbove returns how many bytes a text begins with that are at least least, which is at most 0x80, and not DEL. It
// looks at eight at a time: a borrow of the subtraction can mark only bytes above one that is found, so the lowest mark
// is exact.
func spanAbove(text string, least uint64) int {
	b := unsafe.Slice(unsafe.StringData(text), len(text)) //nolint:gosec // it is read alone
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		y := x ^ del*everyByte
		if found := ((x-least*everyByte)&^x | (y-everyByte)&^y) & highBits; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(b) && uint64(b[i]) >= least && b[i] != del {
		i++
	}
	return i
}

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

// AppendStatusLine appends a status line of HTTP/1.1: RFC 9112 section 4. A reason of "" is the phrase of RFC 9110.
func AppendStatusLine(b []byte, status int, reason string) []byte {
	if reason == "" {
		reason = http.StatusText(status)
	}
	b = strconv.AppendInt(append(b, "HTTP/1.1 "...), int64(status), 10)
	return append(httpmessage.AppendValue(append(b, ' '), reason), crlf...)
}

// AppendField appends a field line, unless its name is not a token: RFC 9112 section 5. The value is sent as
// httpmessage.AppendValue does.
func AppendField(b []byte, name, value string) []byte {
	if !isToken(name) {
		return b
	}
	b = append(append(b, name...), ": "...)
	return append(httpmessage.AppendValue(b, value), crlf...)
}

// AppendFields appends a section of field lines without its empty line.
func AppendFields(b []byte, fields httpmessage.Fields) []byte {
	for i := range fields {
		b = AppendField(b, fields[i].Name, fields[i].Value)
	}
	return b
}

// AppendChunkSize appends the line before the content of a chunk, which is not empty and has CRLF behind it: RFC 9112
// section 7.1.
func AppendChunkSize(b []byte, size int) []byte {
	return append(strconv.AppendInt(b, int64(size), 16), crlf...)
}

// AppendLastChunk appends what ends a body in the chunked coding, with the fields of a trailer section.
func AppendLastChunk(b []byte, trailer httpmessage.Fields) []byte {
	return append(AppendFields(append(b, "0\r\n"...), trailer), crlf...)
}
