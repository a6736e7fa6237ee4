package scheme_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/urnd/urnd/resolver/scheme"
)

// readLines returns all lines, and errors as words.
func readLines(l *scheme.LineReader) string {
	var all []string
	for range 100 {
		line, err := l.Next()
		switch {
		case err == nil:
			all = append(all, line)
		case errors.Is(err, scheme.ErrLongLine):
			all = append(all, "<long>")
		case errors.Is(err, io.EOF):
			return strings.Join(append(all, "<end>"), "|")
		case errors.Is(err, io.ErrUnexpectedEOF):
			return strings.Join(append(all, "<no end>"), "|")
		case errors.Is(err, scheme.ErrTooManyBytes):
			return strings.Join(append(all, "<many>"), "|")
		default:
			return err.Error()
		}
	}
	return "no end"
}

func TestLines(t *testing.T) {
	const buffer = 16
	long := strings.Repeat("x", buffer*3)
	for _, c := range []struct {
		text           string
		line           int
		bytes          int64
		whole, endless string
	}{
		{"", 64, 100, "<end>", "<end>"},
		{"a\r\nb\n\nc\r\r\n", 64, 100, "a|b||c|<end>", "a|b||c|<end>"},
		{"a\nb", 64, 100, "a|<no end>", "a|b|<end>"},
		{"a\n" + long + "\nb\n", 64, 100, "a|" + long + "|b|<end>", "a|" + long + "|b|<end>"},
		{"a\n" + long + "\nb\n", 40, 100, "a|<long>|b|<end>", "a|<long>|b|<end>"},
		{"a\n" + long, 40, 100, "a|<long>|<end>", "a|<long>|<end>"},
		{long + "\n", len(long) + 1, 100, long + "|<end>", long + "|<end>"},
		{long + "\n", len(long), 100, "<long>|<end>", "<long>|<end>"},
		{"abc\nabc\n", 64, 8, "abc|abc|<end>", "abc|abc|<end>"},
		{"abc\nabc\n", 64, 7, "abc|<many>", "abc|<many>"},
		{"a\n" + long + long + "\n", 8, 60, "a|<long>|<many>", "a|<long>|<many>"},
	} {
		for _, isEndless := range []bool{false, true} {
			want := c.whole
			if isEndless {
				want = c.endless
			}
			in := bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(c.text)), buffer)
			if got := readLines(&scheme.LineReader{
				In: in, Line: c.line, Bytes: c.bytes,
				Endless: isEndless,
			}); got != want {
				t.Errorf("%q, %t: %s, want %s", c.text, isEndless, got, want)
			}
		}
	}
	broken := errors.New("broken")
	in := bufio.NewReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	if got := readLines(&scheme.LineReader{In: in, Line: 8, Bytes: 8, Endless: true}); got != broken.Error() {
		t.Errorf("a connection that breaks: %s", got)
	}
}

// FuzzLines requires that Lines equals bytes.Lines within its limits.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\nb\n\nc"))
	f.Add(bytes.Repeat([]byte("ab\n"), 20))
	f.Fuzz(func(t *testing.T, text []byte) {
		l := scheme.LineReader{
			In: bufio.NewReaderSize(bytes.NewReader(text), 16), Line: 32, Bytes: int64(len(text)),
			Endless: true,
		}
		for line := range bytes.Lines(text) {
			got, err := l.Next()
			want := string(bytes.TrimRight(line, "\r\n"))
			if long := len(line) > l.Line; long != errors.Is(err, scheme.ErrLongLine) ||
				!long && (err != nil || got != want) {
				t.Fatalf("%q: %q, %v", line, got, err)
			}
		}
		if got, err := l.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("behind the end: %q, %v", got, err)
		}
	})
}
