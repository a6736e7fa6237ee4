package httpmessage

import (
	"encoding/binary"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"
)

// AppendValue appends a field value in a form that is safe to send: each control character except the
// horizontal tab is replaced by a space, so that a value cannot begin another line: RFC 9110 section 5.5.
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
	everyByte = 0x0101010101010101 // multiplied by a byte: that byte eight times
	highBits  = 0x80 * everyByte
)

// mayHaveControls reports whether text may contain a byte below the space, or DEL. It is false for nearly all
// texts. Eight bytes are tested at a time.
func mayHaveControls(text string) bool {
	b := unsafe.Slice(unsafe.StringData(text), len(text)) //nolint:gosec // the slice is only read
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

// controls sets the high bit of each of the eight bytes that is a control character. A borrow of the
// subtractions can set the bit of other bytes, too.
func controls(x uint64) uint64 {
	y := x ^ del*everyByte
	return (x-' '*everyByte)&^x | (y-everyByte)&^y
}

// ValueBuffer is a buffer for field values generated for one message; most values need no further allocation. Its
// values are valid until Reset. The zero value is ready to use. A nil *ValueBuffer allocates each value.
type ValueBuffer struct{ bytes []byte }

// maxText limits the memory in bytes that a ValueBuffer retains.
const maxText = 8 << 10

// Reset invalidates all values.
func (t *ValueBuffer) Reset() {
	if cap(t.bytes) > maxText {
		t.bytes = nil
	}
	t.bytes = t.bytes[:0]
}

// Int returns n in decimal.
func (t *ValueBuffer) Int(n int64) string {
	start, dst := t.Begin()
	return t.End(start, strconv.AppendInt(dst, n, 10))
}

// Begin returns the buffer to append a value to and the start of the value in it. Pass start and the extended
// buffer to End.
func (t *ValueBuffer) Begin() (start int, dst []byte) {
	if t == nil {
		return 0, nil
	}
	return len(t.bytes), t.bytes
}

// End returns the text appended since start.
func (t *ValueBuffer) End(start int, appended []byte) string {
	if t != nil {
		t.bytes = appended
	}
	//nolint:gosec // later values are appended after it, or to another array
	return unsafe.String(unsafe.SliceData(appended[start:]), len(appended)-start)
}

// MediaRange is an element of Accept: RFC 9110 section 12.5.1.
type MediaRange struct {
	Type    string // "text/html", "text/*" or "*/*", in lower case
	Quality float64
}

// maxRanges limits the parsed elements of Accept.
const maxRanges = 50

// ParseAccept returns the valid elements of Accept in order.
func ParseAccept(accept string) (all []MediaRange) {
	for element := range strings.SplitSeq(accept, ",") {
		kind, parameters, err := mime.ParseMediaType(strings.TrimSpace(element))
		if err != nil {
			continue
		}
		if q, ok := ParseQuality(parameters["q"]); ok {
			all = append(all, MediaRange{kind, q})
		}
		if len(all) == maxRanges {
			break
		}
	}
	return all
}

// ParseQuality parses a quality value; "" is 1: RFC 9110 section 12.4.2.
func ParseQuality(text string) (float64, bool) {
	if text == "" {
		return 1, true
	}
	q, err := strconv.ParseFloat(text, 64)
	return q, err == nil && q >= 0 && q <= 1
}

// Date caches the value of the header field Date (RFC 9110 section 6.6.1), which changes once a second. The
// zero value is ready to use. It is safe for concurrent use.
type Date struct {
	last atomic.Pointer[dateText]
}

// dateText is the value for one second.
type dateText struct {
	second int64
	text   string
}

// At returns the value at a given time.
func (d *Date) At(now time.Time) string {
	second := now.Unix()
	if last := d.last.Load(); last != nil && last.second == second {
		return last.text
	}
	made := &dateText{second, now.UTC().Format(http.TimeFormat)}
	d.last.Store(made)
	return made.text
}
