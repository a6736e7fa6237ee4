package valkey

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

// parser returns a checker for the replies to a number of queries, and a counter of complete messages.
func parser(questions int, each bounds) (m *messages, ended *int) {
	ended = new(int)
	m = &messages{begin: func() (bounds, error) {
		if questions--; questions < 0 {
			return bounds{}, errUnexpectedReply
		}
		return each, nil
	}, end: func() { *ended++ }}
	return m, ended
}

// TestMessages covers each type of the RESP3 specification (github.com/redis/redis-specifications), and what
// the client would misread.
func TestMessages(t *testing.T) {
	for text, want := range map[string]error{
		"+OK\r\n": nil, "+\r\n": nil, "-ERR no\r\n": nil, ":0\r\n": nil, ":-9223372036854775808\r\n": nil,
		"$0\r\n\r\n": nil, "$2\r\n\r\n\r\n": nil, "$-1\r\n": nil, "*-1\r\n": nil, "*0\r\n": nil, "%0\r\n": nil,
		"~1\r\n_\r\n": nil, "#t\r\n": nil, "#f\r\n": nil, ",1.5\r\n": nil, "(1\r\n": nil, "=7\r\ntxt:abc\r\n": nil,
		"*2\r\n*1\r\n:1\r\n%1\r\n+a\r\n*0\r\n": nil, "-MOVED 1 a:1\r\n": nil, "-ASK 1 a:1\r\n": nil,
		"-ERR MOVED 1 a:1\r\n": nil, "$10\r\n0123456789\r\n": nil, "+0123456789\r\n": nil,
		"*10\r\n" + strings.Repeat("_\r\n", 10): nil, strings.Repeat("*1\r\n", maxDepth) + "_\r\n": nil,
		"%5\r\n" + strings.Repeat("_\r\n", 10): nil, "_\r\n_\r\n_\r\n": nil, "_\r\n_\r\n_\r\n_": errUnexpectedReply,
		"*2\r\n_\r\n_\r\n_\r\n_\r\n_\r\n": errUnexpectedReply,

		"$21\r\n": errLarge, "$99999999999999999999\r\n": errLarge, "$9223372036854775807\r\n": errLarge,
		"+012345678901234567890": errLarge, "*11\r\n": errLarge, "%6\r\n": errLarge,
		"*4611686018427387904\r\n": errLarge, "%4611686018427387904\r\n": errLarge, "*2\r\n*9\r\n": errLarge,
		"*2\r\n$12\r\n012345678901\r\n$9\r\n": errLarge,
		"*2\r\n+012345678901\r\n+012345678":   errLarge,
		":00000000000000000000":               errLarge,

		"$-5\r\n": errProtocol, "$-2\r\n": errProtocol, "%-1\r\n": errProtocol, "~-1\r\n": errProtocol,
		"=-1\r\n": errProtocol, "*-2\r\n": errProtocol, "$-0\r\n": errProtocol, "$\r": errProtocol, "$-\r": errProtocol,
		"$+1": errProtocol, "$?": errProtocol, "*?": errProtocol, "%?": errProtocol, ":1 ": errProtocol,
		":1\n": errProtocol, ":--": errProtocol, ":1-": errProtocol, "+a\n": errProtocol, "+a\ra": errProtocol,
		"$1\r\nab": errProtocol, "$1\r\na\ra": errProtocol, "$0\r\n_": errProtocol, "_a": errProtocol,
		"#x": errProtocol, "#\r": errProtocol, "#tt": errProtocol, "_\n": errProtocol, "#t\n": errProtocol,
		"-MOVED\r": errProtocol, "-MOVED 1\r": errProtocol, "-MOVEDx\r": errProtocol, "-ASK\r": errProtocol,
		"-ASK 1\r": errProtocol, "-ERR MOVED 1\r": errProtocol, "-ERR ASK\r": errProtocol,
		"*1\r\n-MOVED\r": errProtocol, strings.Repeat("*1\r\n", maxDepth+1): errProtocol, ">": errProtocol,
		"|": errProtocol, "!": errProtocol, ".": errProtocol, ";": errProtocol, "\r": errProtocol, "\x00": errProtocol,
		"H": errProtocol, "*1\r\n>": errProtocol, "*1\r\n|": errProtocol,
	} {
		m, ended := parser(3, bounds{20, 10})
		err := m.check([]byte(text))
		simple := errors.Is(want, errProtocol) && !errors.Is(want, errLarge) && !errors.Is(want, errUnexpectedReply)
		if !errors.Is(err, want) || simple && errors.Is(err, errLarge) ||
			want == nil && (*ended == 0 || m.state != atKind || m.depth != 0) {
			t.Errorf("%q: %v, after %d messages", text, err, *ended)
		}
		if again := m.check([]byte("_\r\n")); want != nil && !errors.Is(again, want) {
			t.Errorf("%q: then %v", text, again)
		}
		for cut := range text { // a truncated message is neither complete nor wrong
			m, ended := parser(3, bounds{20, 10})
			if err := m.check([]byte(text[:cut])); err != nil && want == nil || *ended == 3 && want == nil {
				t.Errorf("%q: %v after %d messages", text[:cut], err, *ended)
			}
		}
	}
}

// FuzzMessages requires that the verdict on a byte stream does not depend on its division, and that accepted
// messages are within the bounds.
func FuzzMessages(f *testing.F) {
	for _, text := range []string{
		"+OK\r\n", "*4\r\n$3\r\n1-0\r\n$1\r\ne\r\n$0\r\n\r\n:1\r\n", "%1\r\n+a\r\n*1\r\n_\r\n", "-MOVED 1 a:1\r\n",
		"$-1\r\n", "#t\r\n,1\r\n(1\r\n", "=3\r\nabc\r\n", "$5\r\n", "*1000000000\r\n", "|1\r\n", ">1\r\n+a\r\n",
	} {
		f.Add([]byte(text), uint8(3), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, questions, cut uint8) {
		each := bounds{50, 20}
		whole, ended := parser(int(questions), each)
		err := whole.check(data)
		parts, endedParts := parser(int(questions), each)
		var errParts error
		for rest := data; len(rest) > 0; {
			n := min(max(int(cut), 1), len(rest))
			errParts, rest = parts.check(rest[:n]), rest[n:]
		}
		if (err == nil) != (errParts == nil) || *ended != *endedParts {
			t.Errorf("%q: whole %v after %d, in parts %v after %d", data, err, *ended, errParts, *endedParts)
		}
		if *ended > int(questions) || whole.left.bytes < 0 || whole.left.elements < 0 || whole.depth > maxDepth {
			t.Errorf("%q: %+v", data, whole)
		}
	})
}

// BenchmarkMessages measures the reply to a query with a usual entry and with the largest entry.
func BenchmarkMessages(b *testing.B) {
	for _, size := range []int{200, maxEntry} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			text := []byte("*5\r\n$3\r\n1-0\r\n$26\r\n" + strings.Repeat("e", 26) +
				"\r\n$16\r\n----------------\r\n:3600000\r\n$" +
				strconv.Itoa(size) + "\r\n" + strings.Repeat("x", size) + "\r\n")
			m := &messages{begin: func() (bounds, error) { return ofLittle.bounds(), nil }, end: func() {}}
			b.ReportAllocs()
			for b.Loop() {
				if err := m.check(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
