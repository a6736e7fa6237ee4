// Package squid speaks the protocol of Squid's helpers, url_rewrite_program and
// store_id_program, on the side of the helper. squid.conf.documented of Squid 5.7 describes
// it; what an answer should be is decided by the caller.
package squid

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Bounds of the requests.
const (
	MaxLine    = 16 << 10 // octets of a line with its end; Squid's URLs have at most 8 KiB
	Concurrent = 64       // requests with a channel-ID that are answered at a time
)

// Serve answers each line of in with one line on out, until in ends or ctx is done: neither
// is an error. Requests with a channel-ID are answered side by side, in any order; those
// without, one after another. answer is called with the URL, also from several goroutines.
// When Serve returns all calls of answer have, but a read of in may not: nothing can
// interrupt a read of standard input.
func Serve(ctx context.Context, in io.Reader, out io.Writer, answer func(ctx context.Context, url string) Answer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &server{answer: answer, out: out, stop: stop}
	lines := make(chan line)
	go readLines(ctx, in, lines)
	err := s.serve(ctx, lines)
	return errors.Join(err, s.failed)
}

type server struct {
	answer func(ctx context.Context, url string) Answer

	lock   sync.Mutex // for the fields below
	out    io.Writer
	failed error // of the first write that failed
	stop   func()
}

// serve answers lines, and returns when all are answered. The error is that of reading.
func (s *server) serve(ctx context.Context, lines <-chan line) error {
	slots := make(chan struct{}, Concurrent)
	var running sync.WaitGroup
	defer running.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case l, more := <-lines:
			switch {
			case !more:
				return nil
			case l.err != nil:
				return l.err
			case l.request.Channel == "":
				s.reply(ctx, l)
			default:
				slots <- struct{}{}
				running.Go(func() {
					defer func() { <-slots }()
					s.reply(ctx, l)
				})
			}
		}
	}
}

// reply answers one line, at once and with a single write.
func (s *server) reply(ctx context.Context, l line) {
	var a Answer
	switch {
	case l.tooLong:
		a = Broken(fmt.Sprintf("a line has more than %d octets", MaxLine))
	case l.request.URL == "":
		a = Broken("a line has no URL")
	default:
		a = s.answer(ctx, l.request.URL)
	}
	text := a.AppendTo(nil, l.request.Channel)
	s.lock.Lock()
	defer s.lock.Unlock()
	if _, err := s.out.Write(text); err != nil && s.failed == nil {
		s.failed = fmt.Errorf("writing an answer for Squid: %w", err)
		s.stop()
	}
}

// line is what was read.
type line struct {
	request Request
	tooLong bool  // request is from its beginning
	err     error // of reading; there is no request
}

// readLines sends the lines of in, until it ends or ctx is done, and closes lines.
func readLines(ctx context.Context, in io.Reader, lines chan<- line) {
	defer close(lines)
	reader := bufio.NewReaderSize(in, MaxLine)
	for {
		l, more := readLine(reader)
		if l == (line{}) && !more { // the end
			return
		}
		select {
		case lines <- l:
		case <-ctx.Done():
			return
		}
		if !more {
			return
		}
	}
}

// readLine reads a line, and reports whether there may be more. The last need not end in a
// newline.
func readLine(reader *bufio.Reader) (l line, more bool) {
	text, err := reader.ReadSlice('\n')
	l.tooLong = errors.Is(err, bufio.ErrBufferFull)
	if err == nil {
		text = text[:len(text)-1]
	}
	if len(text) > 0 || err == nil {
		l.request = ParseRequest(string(text))
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = reader.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return line{err: fmt.Errorf("reading a line of Squid: %w", err)}, false
	}
	return l, err == nil
}
