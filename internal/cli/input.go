package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/spf13/cobra"
)

// Stdin is the name of standard input among files and arguments.
const Stdin = "-"

// Interruptible returns a reader of r that fails when ctx is done, also while r waits for input, as a terminal or a pipe does. Then a
// goroutine is left behind, which ends with the program.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	from, to := io.Pipe()
	stop := context.AfterFunc(ctx, func() { _ = to.CloseWithError(ctx.Err()) }) // it never fails
	go func() {
		_, err := io.Copy(to, r)
		stop()
		_ = to.CloseWithError(err) // as above; of nil it is the end
	}()
	return from
}

// Input is a file, or standard input, that a command reads.
type Input struct {
	io.Reader
	file *os.File // nil of standard input
}

// Open opens a file, or standard input, until the command is interrupted. The caller closes it.
func Open(cmd *cobra.Command, name string) (*Input, error) {
	if name == Stdin {
		return &Input{Reader: Interruptible(cmd.Context(), cmd.InOrStdin())}, nil
	}
	file, err := os.Open(name) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	in := &Input{file, file}
	if in.Size() < 0 { // it may wait
		in.Reader = Interruptible(cmd.Context(), file)
	}
	return in, nil
}

// Size returns the size of a regular file, -1 of all else.
func (i *Input) Size() int64 {
	if i.file != nil {
		if info, err := i.file.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return -1
}

// Close closes the file.
func (i *Input) Close() {
	if i.file != nil {
		_ = i.file.Close() // it was read
	}
}

// ReadAll reads a file, or standard input, as a whole, of at most so many bytes.
func ReadAll(cmd *cobra.Command, name string, most int64) ([]byte, error) {
	in, err := Open(cmd, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, err)
	case int64(len(b)) > most:
		return nil, fmt.Errorf("%s has more than %d bytes: divide it", name, most)
	}
	return b, nil
}

// ahead bounds the results that wait for that of an earlier input.
const ahead = 256

// InOrder calls work with what next returns, until io.EOF or another error, with several of them at a time, and done with the results in
// their order. idle is called before it waits for a result: what was printed can be flushed. The first error ends it; that of ctx leaves
// out what was in work.
func InOrder[T, R any](
	ctx context.Context, workers int, next func() (T, error), work func(context.Context, T) R, idle func() error, done func(R) error,
) error {
	under, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan chan R, ahead)
	var failed error
	var running sync.WaitGroup
	running.Go(func() {
		defer close(results)
		slots := make(chan struct{}, workers)
		for under.Err() == nil {
			in, err := next()
			if err != nil {
				failed = err
				return
			}
			result := make(chan R, 1)
			select {
			case results <- result:
			case <-under.Done():
				return
			}
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				result <- work(under, in)
			})
		}
	})
	err := inOrder(ctx, results, idle, done)
	cancel() // the output may have failed
	for range results {
	}
	running.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case failed != io.EOF: //nolint:errorlint // what ends it is not wrapped
		return failed
	default:
		return nil
	}
}

// inOrder passes results on in their order.
func inOrder[R any](ctx context.Context, results <-chan chan R, idle func() error, done func(R) error) error {
	for result := range results {
		if len(result) == 0 {
			if err := idle(); err != nil {
				return err
			}
		}
		r := <-result
		if ctx.Err() != nil { // it may have failed by that
			return ctx.Err()
		}
		if err := done(r); err != nil {
			return err
		}
	}
	return nil
}
