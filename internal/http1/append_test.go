package http1_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/http1"
)

// TestAppendFieldNames checks that every byte of a name is validated, at any position: RFC 9110 section 5.6.2.
func TestAppendFieldNames(t *testing.T) {
	const token = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~"
	eachByte(func(c byte, name string) {
		want := name + ": v\r\n"
		if strings.IndexByte(token, c) < 0 {
			want = ""
		}
		if got := string(http1.AppendField(nil, name, "v")); got != want {
			t.Errorf("%q is appended as %q", name, got)
		}
	})
	if got := http1.AppendField(nil, "", "v"); len(got) > 0 {
		t.Errorf("an empty name is appended as %q", got)
	}
}

// eachByte calls f with each byte value at each position of texts of up to 20 bytes.
func eachByte(f func(c byte, text string)) {
	for c := range 256 {
		for length := 1; length <= 20; length++ {
			for at := range length {
				text := []byte("Content-Length-Limit"[:length])
				text[at] = byte(c)
				f(byte(c), string(text))
			}
		}
	}
}
