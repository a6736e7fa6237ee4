package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/spf13/cobra"
)

// Stdin is the name that stands for standard input among files and arguments.
const Stdin = "-"

// Interruptible returns a reader of r that fails when ctx is done, even while a read of r blocks, as on a
// terminal or a pipe. Then a goroutine remains until the program ends.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	from, to := io.Pipe()
	stop := context.AfterFunc(ctx, func() { _ = to.CloseWithError(ctx.Err()) }) // never fails
	go func() {
		_, err := io.Copy(to, r)
		stop()
		_ = to.CloseWithError(err) // never fails; nil means io.EOF
	}()
	return from
}

// Input is the input of a command: a file or standard input.
type Input struct {
	io.Reader
	file *os.File // nil for standard input
}

// Open opens a file or standard input. Reading fails when the command is interrupted. The caller closes the
// Input.
func Open(cmd *cobra.Command, name string) (*Input, error) {
	if name == Stdin {
		return &Input{Reader: Interruptible(cmd.Context(), cmd.InOrStdin())}, nil
	}
	file, err := os.Open(name) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	in := &Input{file, file}
	if in.Size() < 0 { // reading may block
		in.Reader = Interruptible(cmd.Context(), file)
	}
	return in, nil
}

// Size returns the size of a regular file in bytes, -1 for any other input.
func (i *Input) Size() int64 {
	if i.file != nil {
		if info, err := i.file.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return -1
}

// Close closes the file. It does nothing for standard input.
func (i *Input) Close() {
	if i.file != nil {
		_ = i.file.Close() // only read
	}
}

// ReadAll reads a file or standard input completely, and fails for more than most bytes.
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
		return nil, fmt.Errorf("%s is larger than %d bytes: split it", name, most)
	}
	return b, nil
}

// ahead bounds the results that wait for the result of an earlier input.
const ahead = 256

// InOrder calls work concurrently, in at most workers goroutines, with the inputs that next returns, until
// next returns io.EOF or another error. It calls done with the results in the order of the inputs, and idle
// before it waits for a result, so that output can be flushed. The first error ends it. If ctx ends, it
// discards unfinished results and returns the error of ctx.
func InOrder[T, R any](
	ctx context.Context, workers int, next func() (T, error), work func(context.Context, T) R, idle func() error,
	done func(R) error,
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
	cancel() // stop the workers if the output has failed
	for range results {
	}
	running.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case failed != io.EOF: //nolint:errorlint // next returns io.EOF unwrapped
		return failed
	default:
		return nil
	}
}

// inOrder passes results to done in order.
func inOrder[R any](ctx context.Context, results <-chan chan R, idle func() error, done func(R) error) error {
	for result := range results {
		if len(result) == 0 {
			if err := idle(); err != nil {
				return err
			}
		}
		r := <-result
		if ctx.Err() != nil { // the result may be an error of ctx
			return ctx.Err()
		}
		if err := done(r); err != nil {
			return err
		}
	}
	return nil
}
