package squid

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// echo answers each URL with itself.
func echo(_ context.Context, url string) Answer { return Rewrite(url) }

func serve(t *testing.T, in io.Reader, answer func(context.Context, string) Answer) (string, error) {
	t.Helper()
	var out strings.Builder
	err := Serve(t.Context(), in, &out, answer)
	return out.String(), err
}

func TestServe(t *testing.T) {
	const tooLong = `BH message="a line has more than 16384 bytes"` + "\n"
	fits := strings.Repeat("a", MaxLine-1)
	for name, tt := range map[string]struct{ in, want string }{
		"nothing":              {"", ""},
		"lines":                {"a 127.0.0.1/- - GET\nb\n", "OK rewrite-url=\"a\"\nOK rewrite-url=\"b\"\n"},
		"a last line as it is": {"a\nb", "OK rewrite-url=\"a\"\nOK rewrite-url=\"b\"\n"},
		"an empty line":        {"\na\n", "BH message=\"a line has no URL\"\nOK rewrite-url=\"a\"\n"},
		"a channel alone":      {"5\n", "5 BH message=\"a line has no URL\"\n"},
		"a line at the bound":  {fits + "\n", `OK rewrite-url="` + fits + "\"\n"},
		"a line that is too long": {
			"a\n" + fits + "b\nc\n",
			"OK rewrite-url=\"a\"\n" + tooLong + "OK rewrite-url=\"c\"\n",
		},
		"a long one of a channel": {"3 " + strings.Repeat(fits, 5) + "\n", "3 " + tooLong},
		"a long one without end":  {strings.Repeat(fits, 5), tooLong},
	} {
		for reader, in := range map[string]io.Reader{
			"at once":  strings.NewReader(tt.in),
			"in bytes": iotest.OneByteReader(strings.NewReader(tt.in)),
		} {
			if got, err := serve(t, in, echo); got != tt.want || err != nil {
				t.Errorf("%s, %s: %.80q, %v", name, reader, got, err)
			}
		}
	}
}

// TestServeConcurrently checks that requests with a channel are answered concurrently: the first waits for the
// last.
func TestServeConcurrently(t *testing.T) {
	last := make(chan struct{})
	var in strings.Builder
	var want []string
	for _, c := range "abcdefgh" {
		in.WriteString("1" + string('0'+c-'a') + " " + string(c) + " 127.0.0.1/- - GET\n")
		want = append(want, "1"+string('0'+c-'a')+` OK rewrite-url="`+string(c)+`"`)
	}
	got, err := serve(t, strings.NewReader(in.String()), func(_ context.Context, url string) Answer {
		if url == "h" {
			close(last)
		}
		<-last
		return Rewrite(url)
	})
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	slices.Sort(lines)
	if err != nil || !slices.Equal(lines, want) {
		t.Errorf("%q, %v", lines, err)
	}
}

// TestServeIsBounded checks that at most MaxConcurrent requests run at a time.
func TestServeIsBounded(t *testing.T) {
	in, more := io.Pipe()
	running, release := make(chan struct{}, 2*MaxConcurrent), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(t.Context(), in, io.Discard, func(context.Context, string) Answer {
			running <- struct{}{}
			<-release
			return Unchanged()
		})
	}()
	for range MaxConcurrent + 1 { // the last is read and waits
		if _, err := io.WriteString(more, "1 a\n"); err != nil {
			t.Fatal(err)
		}
	}
	for range MaxConcurrent {
		<-running
	}
	if n := len(running); n > 0 {
		t.Errorf("%d more are running", n)
	}
	close(release)
	more.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestServeUntilCancelled checks that a canceled context, as by SIGTERM, cancels running requests, which are
// answered and waited for.
func TestServeUntilCancelled(t *testing.T) {
	in, more := io.Pipe()
	defer more.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { _, _ = io.WriteString(more, "1 a\n") }()
	var out strings.Builder
	err := Serve(ctx, in, &out, func(ctx context.Context, _ string) Answer {
		cancel()
		<-ctx.Done()
		return Broken(ctx.Err().Error())
	})
	if got := out.String(); err != nil || got != "1 BH message=\"context canceled\"\n" {
		t.Errorf("%q, %v", got, err)
	}
}

var errTest = errors.New("test")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errTest }

func TestServeFails(t *testing.T) {
	if _, err := serve(t, iotest.ErrReader(errTest), echo); !errors.Is(err, errTest) {
		t.Errorf("reading: %v", err)
	}
	in, more := io.Pipe() // stays open: the failed write ends Serve
	defer more.Close()
	go func() { _, _ = io.WriteString(more, "a\n") }()
	if err := Serve(t.Context(), in, brokenWriter{}, echo); !errors.Is(err, errTest) {
		t.Errorf("writing: %v", err)
	}
}
