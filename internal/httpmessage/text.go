package httpmessage

import (
	"strconv"
	"unsafe"
)

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
