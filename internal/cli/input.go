package cli

import (
	"context"
	"io"
)

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
