package answer

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/urnd/urnd/proxy/problem"
)

// FuzzReadLines checks that the names are the trimmed lines, without comments and blank lines; names that are
// too long are marked, and only their beginning is stored.
func FuzzReadLines(f *testing.F) {
	for _, seed := range []string{
		"a\nb\r\n\n#c\n d ", strings.Repeat("a", 5000) + "\nb", " \t\r\n\n\n", "a\x00b\n\xff",
		"#\n#" + strings.Repeat("x",
			9000) + "\nb",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const limit = 10
		inputs, err := readLines(bufio.NewReaderSize(strings.NewReader(text), 16), limit)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var want []string
		for line := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(line) != strings.Trim(line, " \t\r\n") {
				return // other white space
			}
			if line = strings.Trim(line, " \t\r\n"); line != "" && line[0] != '#' {
				want = append(want, line)
			}
		}
		if len(want) > maxBatch {
			return
		}
		got := make([]string, 0, len(inputs))
		for _, in := range inputs {
			got = append(got, in.text)
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
		for i, in := range inputs {
			if whole := want[i]; !strings.HasPrefix(whole, in.text) ||
				!in.long && len(whole) <= limit && !slices.Contains(want, in.text) {
				t.Errorf("%q: line %d is %q (long: %t), want %q", text, i, in.text, in.long, whole)
			}
		}
	})
}

// A body of the maximum size is read completely, in any chunks.
func TestBoundedBody(t *testing.T) {
	for _, tt := range []struct {
		body, want string
		tooLong    bool
	}{
		{"", "", false},
		{"abc", "abc", false},
		{"abcd", "abcd", false},
		{"abcde", "abcd", true},
		{"abcdefghijk", "abcd", true},
	} {
		for name, body := range map[string]io.Reader{
			"at once": strings.NewReader(tt.body), "in bytes": iotest.OneByteReader(strings.NewReader(tt.body)),
			"with its end": iotest.DataErrReader(strings.NewReader(tt.body)),
		} {
			got, err := io.ReadAll(&boundedBody{body, len("abcd")})
			if string(got) != tt.want || errors.Is(err, problem.ErrBatchSize) != tt.tooLong ||
				!tt.tooLong && err != nil {
				t.Errorf("%q, %s: %q, %v", tt.body, name, got, err)
			}
		}
	}
}
