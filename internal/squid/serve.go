// Package squid implements the helper side of the protocol of Squid's url_rewrite_program and store_id_program,
// as documented in squid.conf.documented of Squid 5.7. Request lines enter from a reader; the caller's function
// receives their URLs and returns an Answer for each; response lines leave to a writer.
package squid

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Limits of requests.
const (
	MaxLine       = 16 << 10 // bytes of a line including its end; URLs of Squid have at most 8 KiB
	MaxConcurrent = 64       // concurrent requests with a channel-ID
)

// Serve writes one line to out for each line of in, until in ends or ctx is done; neither is an error. Requests
// with a channel-ID are answered concurrently in any order, those without sequentially. answer is called with
// the URL, possibly concurrently. When Serve returns, all calls of answer have returned, but a read of in may
// be pending: a read of standard input cannot be interrupted.
func Serve(
	ctx context.Context, in io.Reader, out io.Writer, answer func(ctx context.Context, url string) Answer,
) error {
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

	lock   sync.Mutex // guards the fields below
	out    io.Writer
	failed error // error of the first failed write
	stop   func()
}

// serve answers lines and returns when all are answered. The error is that of reading.
func (s *server) serve(ctx context.Context, lines <-chan line) error {
	slots := make(chan struct{}, MaxConcurrent)
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

// reply answers one line with a single write.
func (s *server) reply(ctx context.Context, l line) {
	var a Answer
	switch {
	case l.tooLong:
		a = Broken(fmt.Sprintf("a line has more than %d bytes", MaxLine))
	case l.request.URL == "":
		a = Broken("a line has no URL")
	default:
		a = s.answer(ctx, l.request.URL)
	}
	text := a.AppendTo(nil, l.request.Channel)
	s.lock.Lock()
	defer s.lock.Unlock()
	if _, err := s.out.Write(text); err != nil && s.failed == nil {
		s.failed = fmt.Errorf("writing a response to Squid: %w", err)
		s.stop()
	}
}

// line is a line of input.
type line struct {
	request Request
	tooLong bool  // request is from its beginning
	err     error // read error; there is no request
}

// readLines sends the lines of in until it ends or ctx is done, and closes lines.
func readLines(ctx context.Context, in io.Reader, lines chan<- line) {
	defer close(lines)
	reader := bufio.NewReaderSize(in, MaxLine)
	for {
		l, more := readLine(reader)
		if l == (line{}) && !more { // end of the input
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

// readLine reads a line and reports whether there may be more. The last line need not end with a newline.
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
		return line{err: fmt.Errorf("reading a line from Squid: %w", err)}, false
	}
	return l, err == nil
}
