package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// body is a part of a file, read by offset. Close may be called during a Read.
type body struct {
	ctx  context.Context //nolint:containedctx // its cancellation also ends the body
	file *os.File
	next int64 // offset of the next byte
	left int64
}

// Read implements io.Reader. A file truncated after its length was sent ends with io.ErrUnexpectedEOF.
func (b *body) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, fmt.Errorf("reading the file: %w", err)
	}
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.file.ReadAt(p[:min(int64(len(p)), b.left)], b.next)
	b.next += int64(n)
	b.left -= int64(n)
	switch {
	case err == nil:
		return n, nil
	case !errors.Is(err, io.EOF):
		return n, fmt.Errorf("reading the file: %w", withoutPath(err))
	case b.left == 0:
		return n, io.EOF
	default:
		return n, io.ErrUnexpectedEOF
	}
}

// Close implements io.Closer.
func (b *body) Close() error { return b.file.Close() }
