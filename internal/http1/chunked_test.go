package http1_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http/httputil"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
)

const maxTrailer = 1 << 10

// decode returns the content of a body and a summary of the reader's final state. step is the number of bytes
// per Read.
func decode(from io.Reader, size, step int, lenient bool) (content, result string, err error) {
	in := bufio.NewReaderSize(from, size)
	trailer := new(httpmessage.Trailer)
	c := &http1.ChunkedReader{In: in, Trailer: trailer, MaxTrailer: maxTrailer, Lenient: lenient}
	var got []byte
	p := make([]byte, step)
	for err == nil {
		var n int
		n, err = c.Read(p)
		got = append(got, p[:n]...)
	}
	if _, again := c.Read(p); again != err { //nolint:errorlint // the identical error is expected
		return "", "", fmt.Errorf("%w, and then %w", err, again)
	}
	if !errors.Is(err, io.EOF) {
		return string(got), "", err
	}
	behind, _ := io.ReadAll(in)
	result = fmt.Sprintf("%q", got)
	if len(trailer.Fields) > 0 {
		result += fmt.Sprint(" trailer=", trailer.Fields)
	}
	return string(got), result + rest(string(behind)), nil
}

// TestChunked decodes each body of the table with various buffer sizes and read sizes.
func TestChunked(t *testing.T) {
	for v := range vectors(t, "testdata/chunked.txt") {
		for _, step := range []int{1, 3, 100} {
			for name, from := range map[string]io.Reader{
				"as a whole":   strings.NewReader(v.text),
				"byte by byte": iotest.OneByteReader(strings.NewReader(v.text)),
				"with its end": iotest.DataErrReader(strings.NewReader(v.text)),
			} {
				_, got, err := decode(from, 16, step, false)
				var failed *http1.Error
				switch {
				case errors.As(err, &failed) && failed.Status == 400:
					got = "refused"
				case err != nil:
					got = err.Error()
				}
				if got != v.want {
					t.Errorf("%s: %q %s, %d at a time: %s, want %s", v.where, v.text, name, step, got, v.want)
				}
			}
		}
	}
}

// TestChunkedBounds checks the limits of chunk-size lines, of the trailer section and of the framing overhead.
func TestChunkedBounds(t *testing.T) {
	chunks := func(n int, extension string) string {
		return strings.Repeat("1"+extension+"\r\nx\r\n", n) + "0\r\n\r\n"
	}
	trailer := func(n int) string { return "0\r\nA: " + strings.Repeat("b", n-len("A: \r\n\r\n")) + "\r\n\r\n" }
	for name, tt := range map[string]struct {
		text   string
		status int // 0 for no error
	}{
		"a byte a chunk":                 {chunks(100_000, ""), 0},
		"a few extensions":               {chunks(1000, ";a=12345"), 0},
		"more extensions than content":   {chunks(2000, ";"+strings.Repeat("a", 100)), 400},
		"a long extension":               {chunks(1, ";"+strings.Repeat("a", 4000)), 0},
		"a longer one":                   {chunks(1, ";"+strings.Repeat("a", 5000)), 400},
		"a size that never ends":         {strings.Repeat("0", 100_000), 400},
		"the largest trailer section":    {trailer(maxTrailer), 0},
		"a larger one":                   {trailer(maxTrailer + 1), 431},
		"a trailer that never ends":      {"0\r\n" + strings.Repeat("A: b\r\n", 100_000), 431},
		"a large chunk":                  {"186a0\r\n" + strings.Repeat("x", 100_000) + "\r\n0\r\n\r\n", 0},
		"a chunk of 2^60 bytes":          {"fffffffffffffff\r\n" + strings.Repeat("x", 100), -1},
		"a chunk of more than 15 digits": {"ffffffffffffffff\r\n" + strings.Repeat("x", 100), 400},
	} {
		for _, lenient := range []bool{false, true} {
			_, _, err := decode(strings.NewReader(tt.text), 4096, 512, lenient)
			var failed *http1.Error
			status := 0
			if errors.As(err, &failed) {
				status = failed.Status
			} else if err != nil {
				status = -1
			}
			if status != tt.status {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestChunkedTrailerFields checks that the memory for trailer fields does not exceed the limit of the section.
func TestChunkedTrailerFields(t *testing.T) {
	for n, want := range map[int]bool{maxTrailer / 32: true, maxTrailer/32 + 1: false} {
		_, _, err := decode(strings.NewReader("0\r\n"+strings.Repeat("a:\r\n", n)+"\r\n"), 16, 16, false)
		var failed *http1.Error
		if (err == nil) != want || !want && (!errors.As(err, &failed) || failed.Status != 431) {
			t.Errorf("%d fields: %v", n, err)
		}
	}
}

// TestChunkedWithoutCopy checks that content larger than the buffer is read directly, and not beyond its end.
func TestChunkedWithoutCopy(t *testing.T) {
	var sizes []int
	content := strings.Repeat("x", 1000)
	from := strings.NewReader("3e8\r\n" + content + "\r\n0\r\n\r\nrest")
	in := bufio.NewReaderSize(readerFunc(func(p []byte) (int, error) {
		sizes = append(sizes, len(p))
		return from.Read(p)
	}), 16)
	got, err := io.ReadAll(io.LimitReader(&http1.ChunkedReader{In: in, MaxTrailer: maxTrailer}, 1000))
	if err != nil || string(got) != content || !slices.Contains(sizes, 501) { // 11 of 512 requested bytes were buffered
		t.Errorf("%v, %d bytes by reads of %d", err, len(got), sizes)
	}
}

// TestChunkedBehindDeadline checks that reading continues after an expired deadline, but not after a syntax
// error.
func TestChunkedBehindDeadline(t *testing.T) {
	parts := []string{"4\r", "\nWi", "ki\r\n0\r\nA: ", "b\r\n\r\nrest"}
	late := true
	in := bufio.NewReaderSize(readerFunc(func(p []byte) (int, error) {
		if late = !late; !late {
			return 0, os.ErrDeadlineExceeded
		}
		n := copy(p, parts[0])
		parts = parts[1:]
		return n, nil
	}), 100)
	trailer := new(httpmessage.Trailer)
	c := &http1.ChunkedReader{In: in, Trailer: trailer, MaxTrailer: maxTrailer}
	var got []byte
	failures := 0
	for {
		p := make([]byte, 10)
		n, err := c.Read(p)
		got = append(got, p[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		if err != nil {
			failures++
		}
	}
	if string(got) != "Wiki" || failures != 4 || trailer.Fields.Get("A") != "b" || in.Buffered() != len("rest") {
		t.Errorf("%q, %d errors, %v, %d bytes behind", got, failures, trailer.Fields, in.Buffered())
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestAppendChunks checks that appended chunks decode to the same content.
func TestAppendChunks(t *testing.T) {
	b := append(http1.AppendChunkSize(nil, 26), "abcdefghijklmnopqrstuvwxyz\r\n"...)
	b = http1.AppendLastChunk(b, httpmessage.NewFields("A", "b\r\nc: d", "not a name", "e", "f", ""))
	const want = "1a\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\nA: b  c: d\r\nf: \r\n\r\n"
	if string(b) != want {
		t.Errorf("%q", b)
	}
	const read = `"abcdefghijklmnopqrstuvwxyz" trailer=[{A b  c: d} {f }]`
	if _, got, err := decode(strings.NewReader(want), 16, 16, false); got != read {
		t.Errorf("%s, %v", got, err)
	}
}

// FuzzChunked compares ChunkedReader with net/http. A valid request body decodes to the same content,
// regardless of how its bytes arrive. A body that is valid in a request is also valid in a response, and
// net/http does not accept more than the lenient reader. net/http rejects whitespace between a size and its
// extensions, which RFC 9112 section 7.1.1 permits recipients to parse.
func FuzzChunked(f *testing.F) {
	for v := range vectors(f, "testdata/chunked.txt") {
		f.Add(v.text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, step int) {
		if step < 1 || step > 1000 {
			return
		}
		content, result, err := decode(strings.NewReader(text), 16, step, false)
		again, other, otherErr := decode(iotest.OneByteReader(strings.NewReader(text)), 16, 1, false)
		if again != content || other != result || fmt.Sprint(err) != fmt.Sprint(otherErr) {
			t.Errorf("%q: %s, %v; byte by byte %s, %v", text, result, err, other, otherErr)
		}
		leniently, _, lenientErr := decode(strings.NewReader(text), 16, step, true)
		if result != "" && (lenientErr != nil || leniently != content) {
			t.Errorf("%q: as a response %q, %v", text, leniently, lenientErr)
		}
		if strings.Contains(text, " ;") || strings.Contains(text, "\t;") {
			return
		}
		oracle, oracleErr := io.ReadAll(httputil.NewChunkedReader(strings.NewReader(text)))
		if err == nil && (oracleErr != nil || content != string(oracle)) {
			t.Errorf("%q: %q, net/http %q, %v", text, content, oracle, oracleErr)
		}
		if !strings.HasPrefix(string(oracle), leniently) {
			t.Errorf("%q: as a response %q, by net/http %q", text, leniently, oracle)
		}
	})
}

func BenchmarkChunked(b *testing.B) {
	for _, size := range []int{100, 16 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			chunk := string(http1.AppendChunkSize(nil, size)) + strings.Repeat("x", size) + "\r\n"
			text := strings.Repeat(chunk, 16) + "0\r\n\r\n"
			in := bufio.NewReader(nil)
			p := make([]byte, 32<<10)
			b.ReportAllocs()
			b.SetBytes(int64(16 * size))
			for b.Loop() {
				in.Reset(strings.NewReader(text))
				c := http1.ChunkedReader{In: in, MaxTrailer: maxTrailer}
				for {
					if _, err := c.Read(p); err != nil {
						break
					}
				}
			}
		})
	}
}
