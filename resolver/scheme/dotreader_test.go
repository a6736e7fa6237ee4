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

// TestDots requires that texts of servers without dot-stuffing or terminator are read as intended.
func TestDots(t *testing.T) {
	for text, want := range map[string]string{
		"a\r\n..b\r\n.\r\n":           "a\r\n.b\r\n",
		"a\n..b\n.\n":                 "a\n.b\n",
		"a\r\nb\r\n":                  "a\r\nb\r\n",
		"a\r\nb":                      "a\r\nb",
		"a\r\n.":                      "a\r\n",
		".\r\n":                       "",
		"a\r\n.\r\nb\r\n":             "a\r\n.\r\nb\r\n",
		"a\r\n.\r\nb\r\n..c\r\n.\r\n": "a\r\n.\r\nb\r\n..c\r\n",
		"..a\r\n.b\r\n..c\r\n":        ".a\r\n.b\r\n..c\r\n",
		"a.\r\n":                      "a.\r\n",
	} {
		const buffer = 16
		if got, err := io.ReadAll(dotsOf(text, false, buffer)); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// TestDotsAlone: in strict mode only the terminator ends a text; the bytes after it stay unread, and buffered
// lines can be skipped.
func TestDotsAlone(t *testing.T) {
	in := bufio.NewReader(strings.NewReader("a\r\n..b\r\n.\r\n200 next\r\n"))
	dots := &scheme.DotReader{In: in}
	if _, err := io.ReadFull(dots, make([]byte, 1)); err != nil || dots.Ended() {
		t.Fatalf("%v, ended: %t", err, dots.Ended())
	}
	dots.Skip()
	if rest, _ := io.ReadAll(in); !dots.Ended() || string(rest) != "200 next\r\n" {
		t.Errorf("ended: %t, left: %q", dots.Ended(), rest)
	}
	for text, want := range map[string]string{
		"": "", "a\r\n": "a\r\n", "a\r\nb": "a\r\n", "a\r\n.": "a\r\n",
		"a\r\n.\r": "a\r\n",
	} {
		dots := &scheme.DotReader{In: bufio.NewReader(strings.NewReader(text))}
		if got, err := io.ReadAll(dots); !errors.Is(err, io.ErrUnexpectedEOF) || string(got) != want || dots.Ended() {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	pipe, server := io.Pipe()
	go func() { _, _ = io.WriteString(server, "a\r\nb\r\nc") }()
	waiting := &scheme.DotReader{In: bufio.NewReader(pipe)}
	if _, err := io.ReadFull(waiting, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	if waiting.Skip(); waiting.Ended() { // it must return although the server sends no more
		t.Error("a text has ended without its end")
	}
	_ = pipe.Close()
}

// TestDotsAfterLF: after a CRLF, a bare LF in a text ends neither a line nor the text, at any size of the buffer;
// a server that ends lines with bare LFs is still understood.
func TestDotsAfterLF(t *testing.T) {
	long := strings.Repeat("x", 15)
	for sent, want := range map[string]string{
		"a\r\nb\n.\nc\r\n.\r\n":               "a\r\nb\n.\nc\r\n",
		"a\r\nb\n.\r\nc\r\n.\r\n":             "a\r\nb\n.\r\nc\r\n",
		"a\r\nb\n..c\r\n.\r\n":                "a\r\nb\n..c\r\n",
		"a\r\n..\nb\r\n.\r\n":                 "a\r\n.\nb\r\n",
		"a\r\n.\nb\r\n.\r\n":                  "a\r\n.\nb\r\n",
		long + "\r\n" + long + "\r\n.\r\n":    long + "\r\n" + long + "\r\n",
		long + "\r\n" + long + "\n.\r\n.\r\n": long + "\r\n" + long + "\n.\r\n",
		"a\n..b\n.\n":                         "a\n.b\n",
	} {
		const buffer = 16
		in := bufio.NewReaderSize(iotest.HalfReader(strings.NewReader(sent+"200 next\r\n")), buffer)
		dots := &scheme.DotReader{In: in, CRLF: true}
		got, err := io.ReadAll(dots)
		if rest, _ := io.ReadAll(in); err != nil || string(got) != want || string(rest) != "200 next\r\n" {
			t.Errorf("%q: %q, %v, left %q; want %q", sent, got, err, rest, want)
		}
	}
}

// FuzzDots: a text sent as in RFC 1436 and RFC 3977 is read unchanged; any other text never grows.
func FuzzDots(f *testing.F) {
	for _, text := range []string{
		"a\r\n.b\r\n..\r\n", ".\r\nmore", ".", "", "..", "\n.\n.\n",
		strings.Repeat("x", 5000) + "\n.y\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const buffer = 16
		var sent strings.Builder
		for line := range bytes.Lines(text) {
			if line[0] == '.' {
				sent.WriteByte('.')
			}
			sent.Write(line)
		}
		want := string(text)
		if !strings.HasSuffix(want, "\n") && want != "" {
			want += "\r\n"
			sent.WriteString("\r\n")
		}
		for _, strict := range []bool{true, false} {
			got, err := io.ReadAll(dotsOf(sent.String()+".\r\n", strict, buffer))
			if err != nil || string(got) != want {
				t.Fatalf("%t: %q, %v; want %q", strict, got, err, want)
			}
			if _, err := io.ReadAll(dotsOf(sent.String(), strict, buffer)); strict != errors.Is(err,
				io.ErrUnexpectedEOF) {
				t.Fatalf("without its end: %v", err)
			}
			got, _ = io.ReadAll(dotsOf(string(text), strict, buffer))
			if len(got) > len(text) {
				t.Fatalf("%q grows to %q", text, got)
			}
		}
	})
}

func dotsOf(text string, strict bool, buffer int) io.Reader {
	in := bufio.NewReaderSize(iotest.HalfReader(strings.NewReader(text)), buffer)
	dots := &scheme.DotReader{In: in}
	if !strict {
		dots.More = func() (bool, error) {
			_, err := in.Peek(1)
			return err == nil, nil
		}
	}
	return dots
}
