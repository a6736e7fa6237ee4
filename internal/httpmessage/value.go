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

// Text is memory for the values of fields that are made for one message, so that most take none of their own. Its values are valid
// until Reset. The zero value is ready; those of nil have memory of their own.
type Text struct{ bytes []byte }

// maxText bounds the memory that stays with a Text.
const maxText = 8 << 10

// Reset forgets all values.
func (t *Text) Reset() {
	if cap(t.bytes) > maxText {
		t.bytes = nil
	}
	t.bytes = t.bytes[:0]
}

// Int returns a number in decimal.
func (t *Text) Int(n int64) string {
	start, dst := t.Begin()
	return t.End(start, strconv.AppendInt(dst, n, 10))
}

// Begin returns memory to which a value is appended, and where that begins: both are for End.
func (t *Text) Begin() (start int, dst []byte) {
	if t == nil {
		return 0, nil
	}
	return len(t.bytes), t.bytes
}

// End returns what was appended behind start.
func (t *Text) End(start int, appended []byte) string {
	if t != nil {
		t.bytes = appended
	}
	//nolint:gosec // what is appended later is behind it, or elsewhere
	return unsafe.String(unsafe.SliceData(appended[start:]), len(appended)-start)
}

// MediaRange is an element of Accept: RFC 9110 section 12.5.1.
type MediaRange struct {
	Type    string // "text/html", "text/*" or "*/*", in lower case
	Quality float64
}

// maxRanges bounds the elements of Accept that are read.
const maxRanges = 50

// MediaRanges returns the elements of Accept in their order. Those that are not valid are left out.
func MediaRanges(accept string) (all []MediaRange) {
	for element := range strings.SplitSeq(accept, ",") {
		kind, parameters, err := mime.ParseMediaType(strings.TrimSpace(element))
		if err != nil {
			continue
		}
		if q, ok := Quality(parameters["q"]); ok {
			all = append(all, MediaRange{kind, q})
		}
		if len(all) == maxRanges {
			break
		}
	}
	return all
}

// Quality parses a quality, which is 1 where it is missing: RFC 9110 section 12.4.2.
func Quality(text string) (float64, bool) {
	if text == "" {
		return 1, true
	}
	q, err := strconv.ParseFloat(text, 64)
	return q, err == nil && q >= 0 && q <= 1
}

// Date has the value of the field Date (RFC 9110 section 6.6.1), which is made once a second. The zero value is ready. It is safe for
// concurrent use.
type Date struct {
	last atomic.Pointer[dateText]
}

// dateText is the value in one second.
type dateText struct {
	second int64
	text   string
}

// At returns the value at a time.
func (d *Date) At(now time.Time) string {
	second := now.Unix()
	if last := d.last.Load(); last != nil && last.second == second {
		return last.text
	}
	made := &dateText{second, now.UTC().Format(http.TimeFormat)}
	d.last.Store(made)
	return made.text
}
