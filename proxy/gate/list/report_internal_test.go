package list

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// zeros is a reader of a given number of zero bytes.
type zeros struct{ left int }

func (z *zeros) Read(p []byte) (int, error) {
	n := min(len(p), z.left)
	clear(p[:n])
	if z.left -= n; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func TestTooLarge(t *testing.T) {
	for _, entries := range []int{MaxEntries, MaxEntries + 1} {
		_, err := read(strings.NewReader("a\n"), "#", func(string) (int, error) { return entries, nil })
		if errors.Is(err, ErrTooLarge) != (entries > MaxEntries) {
			t.Error(entries, err)
		}
	}
	for _, size := range []int{MaxBytes, MaxBytes + 1} {
		_, err := read(&zeros{size}, "#", func(string) (int, error) { return 0, nil })
		if errors.Is(err, ErrTooLarge) != (size > MaxBytes) {
			t.Error(size, err)
		}
	}
}
