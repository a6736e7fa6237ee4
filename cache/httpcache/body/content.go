package body

import (
	"bytes"
	"context"
	"io"

	"github.com/urnd/urnd/cache/httpcache/rules"
)

// Body is the content of a stored response.
type Body interface {
	// Size returns the number of bytes, -1 while unknown.
	Size() int64
	// Memory returns the used memory in bytes.
	Memory() int
	// Open returns a reader of a part; an End of -1 is the end of the content.
	Open(ctx context.Context, part rules.Span) (Content, error)
}

// Content is the body of one response on its way to a client. The caller must close it.
type Content interface {
	// SendTo writes the content to w, without copying it if possible. It calls flush, which may be nil, before it
	// waits for more. An error means that the content sent is incomplete.
	SendTo(w io.Writer, flush func()) error
	Close()
}

// Blocks are a complete content in memory. They are never written to.
type Blocks [][]byte

// Size implements Body.
func (b Blocks) Size() int64 {
	var n int64
	for _, block := range b {
		n += int64(len(block))
	}
	return n
}

// Memory implements Body.
func (b Blocks) Memory() int {
	n := 0
	for _, block := range b {
		n += cap(block) + sliceSize
	}
	return n
}

const sliceSize = 24

// block is the content of most stored responses: Blocks of one element, in less memory.
type block struct{ one [1][]byte }

// Body returns the blocks as a Body.
func (b Blocks) Body() Body {
	if len(b) == 1 {
		return &block{[1][]byte{b[0]}}
	}
	return b
}

// BlocksIn returns the blocks of a content, false if it is not in memory. They must not be changed.
func BlocksIn(c Body) (Blocks, bool) {
	switch c := c.(type) {
	case *block:
		return c.one[:], true
	case Blocks:
		return c, true
	default:
		return nil, false
	}
}

// Size implements Body.
func (b *block) Size() int64 { return int64(len(b.one[0])) }

// Memory implements Body.
func (b *block) Memory() int { return cap(b.one[0]) + sliceSize }

// Open implements Body.
func (b *block) Open(ctx context.Context, part rules.Span) (Content, error) {
	return Blocks(b.one[:]).Open(ctx, part)
}

// Open implements Body.
func (b Blocks) Open(_ context.Context, part rules.Span) (Content, error) {
	if part.Start == 0 && (part.End < 0 || part.End == b.Size()) {
		return blocksContent(b), nil
	}
	if part.End < 0 {
		part.End = b.Size()
	}
	return blocksContent(b.Part(part)), nil
}

// Part returns a part of the content, which shares its memory.
func (b Blocks) Part(part rules.Span) Blocks { return b.AppendPart(nil, part) }

// AppendPart appends a part of the content to dst, which shares its memory.
func (b Blocks) AppendPart(dst Blocks, part rules.Span) Blocks {
	at := int64(0)
	for _, block := range b {
		from, to := max(part.Start-at, 0), min(part.End-at, int64(len(block)))
		if from < to {
			dst = append(dst, block[from:to:to])
		}
		at += int64(len(block))
	}
	return dst
}

// Compact returns a part of a content that does not retain the whole: blocks much smaller than the blocks
// they were sliced from are copied.
func (b Blocks) Compact(whole Blocks) Blocks {
	for i, block := range b {
		if cap(block) < blockSize/2 && whole.Memory() > b.Memory() {
			b[i] = bytes.Clone(block)
		}
	}
	return b
}

// blocksContent is a reader of blocks.
type blocksContent Blocks

// SendTo implements Content.
func (b blocksContent) SendTo(w io.Writer, _ func()) error {
	for _, block := range b {
		if _, err := w.Write(block); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Content.
func (blocksContent) Close() {}

// trimmed returns the content without the unused memory of a last block that is much larger than its content.
func (b Blocks) trimmed() Blocks {
	last := len(b) - 1
	if last < 0 || cap(b[last])-len(b[last]) <= cap(b[last])/4 {
		return b
	}
	trimmed := append(Blocks(nil), b[:last]...)
	if len(b[last]) > 0 {
		trimmed = append(trimmed, append([]byte(nil), b[last]...))
	}
	return trimmed
}

// NewBlocks returns a content in memory.
func NewBlocks(body []byte) Blocks {
	if len(body) == 0 {
		return nil
	}
	return Blocks{body}
}
