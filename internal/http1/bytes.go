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

// tokenBytes marks the bytes of a token: RFC 9110 section 5.6.2.
var tokenBytes = func() (table [256]bool) {
	for i := range table {
		table[i] = httpguts.IsTokenRune(rune(i))
	}
	return table
}()

// spanToken returns the length in bytes of the token at the beginning of text; 0 if text begins with another
// byte.
func spanToken(text string) int {
	for i := range len(text) {
		if !tokenBytes[text[i]] {
			return i
		}
	}
	return len(text)
}

const (
	everyByte = 0x0101010101010101 // multiplied by a byte: that byte eight times
	highBits  = 0x80 * everyByte
	del       = 0x7f
)

// spanAbove returns the length in bytes of the longest prefix of text whose bytes are all >= least and not DEL.
// least is at most 0x80. Eight bytes are tested at a time: the borrow of a subtraction can mark only bytes
// above a matching byte, so the lowest mark is exact.
func spanAbove(text string, least uint64) int {
	b := unsafe.Slice(unsafe.StringData(text), len(text)) //nolint:gosec // the slice is only read
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

// isToken reports whether text is a token: RFC 9110 section 5.6.2. Most field names consist of letters and
// hyphens only; these are tested eight bytes at a time.
func isToken(text string) bool {
	if len(text) < 8 {
		return text != "" && spanToken(text) == len(text)
	}
	b := unsafe.Slice(unsafe.StringData(text), len(text)) //nolint:gosec // the slice is only read
	common := lettersAndHyphens(binary.LittleEndian.Uint64(b[len(b)-8:]))
	for ; len(b) > 8; b = b[8:] {
		common &= lettersAndHyphens(binary.LittleEndian.Uint64(b))
	}
	return common&highBits == highBits || spanToken(text) == len(text)
}

// lettersAndHyphens sets the high bit of each of the eight bytes that is an ASCII letter or a hyphen. The sums
// operate on 7-bit values, so none carries into the next byte.
func lettersAndHyphens(x uint64) uint64 {
	low := x &^ highBits
	folded := low | 0x20*everyByte
	letters := (folded + (0x80-'a')*everyByte) &^ (folded + (0x7f-'z')*everyByte)
	others := (low ^ '-'*everyByte) + 0x7f*everyByte
	return (letters | ^others) &^ x
}

// AppendStatusLine appends an HTTP/1.1 status line: RFC 9112 section 4. An empty reason stands for the reason
// phrase of RFC 9110.
func AppendStatusLine(b []byte, status int, reason string) []byte {
	if reason == "" {
		reason = http.StatusText(status)
	}
	b = strconv.AppendInt(append(b, "HTTP/1.1 "...), int64(status), 10)
	return append(httpmessage.AppendValue(append(b, ' '), reason), crlf...)
}

// AppendField appends a field line: RFC 9112 section 5. A field whose name is not a token is omitted. The value
// is sanitized by httpmessage.AppendValue.
func AppendField(b []byte, name, value string) []byte {
	if !isToken(name) {
		return b
	}
	b = append(append(b, name...), ": "...)
	return append(httpmessage.AppendValue(b, value), crlf...)
}

// AppendFields appends the field lines of a section without the empty line that terminates it.
func AppendFields(b []byte, fields httpmessage.Fields) []byte {
	for i := range fields {
		b = AppendField(b, fields[i].Name, fields[i].Value)
	}
	return b
}

// AppendChunkSize appends the chunk-size line of a chunk: RFC 9112 section 7.1. The chunk must not be empty.
// The caller appends the content and the CRLF that follows it.
func AppendChunkSize(b []byte, size int) []byte {
	return append(strconv.AppendInt(b, int64(size), 16), crlf...)
}

// AppendLastChunk appends the last chunk, the trailer section and the final empty line of a chunked body: RFC
// 9112 section 7.1.
func AppendLastChunk(b []byte, trailer httpmessage.Fields) []byte {
	return append(AppendFields(append(b, "0\r\n"...), trailer), crlf...)
}
