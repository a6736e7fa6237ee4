package httpcache

import (
	"bytes"
	"context"
	"io"
)

// content is the content of a stored response.
type content interface {
	// size returns its octets, -1 while the end is not known.
	size() int64
	// memory returns the memory that it holds, in bytes.
	memory() int
	// open returns a reader of a part; an end of -1 is the end of the content.
	open(ctx context.Context, part span) (Content, error)
}

// Content is the body of one response on its way to a client. It must be closed.
type Content interface {
	// SendTo writes the content to w, without copying it where that is possible. flush is called
	// before it waits for more; nil is not called. An error means that it is not complete.
	SendTo(w io.Writer, flush func()) error
	Close()
}

// blocks are a content in memory, complete. They are never written to.
type blocks [][]byte

func (b blocks) size() int64 {
	var n int64
	for _, block := range b {
		n += int64(len(block))
	}
	return n
}

func (b blocks) memory() int {
	n := 0
	for _, block := range b {
		n += cap(block) + sliceSize
	}
	return n
}

const sliceSize = 24

// block is the content of most stored responses: blocks of one, in less memory.
type block struct{ one [1][]byte }

// inMemory returns a content of blocks.
func (b blocks) inMemory() content {
	if len(b) == 1 {
		return &block{[1][]byte{b[0]}}
	}
	return b
}

// blocksIn returns the blocks of a content, and false where it is not in memory. They must not be changed.
func blocksIn(c content) (blocks, bool) {
	switch c := c.(type) {
	case *block:
		return c.one[:], true
	case blocks:
		return c, true
	default:
		return nil, false
	}
}

func (b *block) size() int64 { return int64(len(b.one[0])) }

func (b *block) memory() int { return cap(b.one[0]) + sliceSize }

func (b *block) open(ctx context.Context, part span) (Content, error) {
	return blocks(b.one[:]).open(ctx, part)
}

func (b blocks) open(_ context.Context, part span) (Content, error) {
	if part.start == 0 && (part.end < 0 || part.end == b.size()) {
		return blocksContent(b), nil
	}
	if part.end < 0 {
		part.end = b.size()
	}
	return blocksContent(b.part(part)), nil
}

// part returns a part of the content, of the same memory.
func (b blocks) part(part span) blocks { return b.appendPart(nil, part) }

// appendPart appends a part of the content to blocks, of the same memory.
func (b blocks) appendPart(dst blocks, part span) blocks {
	at := int64(0)
	for _, block := range b {
		from, to := max(part.start-at, 0), min(part.end-at, int64(len(block)))
		if from < to {
			dst = append(dst, block[from:to:to])
		}
		at += int64(len(block))
	}
	return dst
}

// ownMemory returns a part of a content without the memory of the rest: blocks that are much smaller than those that they
// were cut from are copied.
func (b blocks) ownMemory(whole blocks) blocks {
	for i, block := range b {
		if cap(block) < blockSize/2 && whole.memory() > b.memory() {
			b[i] = bytes.Clone(block)
		}
	}
	return b
}

// blocksContent sends blocks.
type blocksContent blocks

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

// trimmed returns the content without memory that is not used: that of a last block which is much
// larger than what it has.
func (b blocks) trimmed() blocks {
	last := len(b) - 1
	if last < 0 || cap(b[last])-len(b[last]) <= cap(b[last])/4 {
		return b
	}
	trimmed := append(blocks(nil), b[:last]...)
	if len(b[last]) > 0 {
		trimmed = append(trimmed, append([]byte(nil), b[last]...))
	}
	return trimmed
}
