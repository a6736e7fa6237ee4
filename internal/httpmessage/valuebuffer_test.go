package httpmessage_test

import (
	"bytes"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

// TestAppendValue checks that a value never ends its line, and that every byte is tested at any position: RFC
// 9110 section 5.5.
func TestAppendValue(t *testing.T) {
	for c := range 256 {
		for length := range 21 {
			for at := range length {
				value := []byte("a value of some words"[:length])
				value[at] = byte(c)
				want := value
				if c < ' ' && c != '\t' || c == 0x7f {
					want = bytes.ReplaceAll(value, []byte{byte(c)}, []byte(" "))
				}
				if got := httpmessage.AppendValue(nil, string(value)); !bytes.Equal(got, want) {
					t.Errorf("%q is appended as %q", value, got)
				}
			}
		}
	}
}
