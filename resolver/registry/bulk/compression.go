package bulk

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// The octets that compressed input begins with (RFC 1952 section 2.3.1, RFC 8878 section 3.1.1).
var (
	magicGzip = []byte{0x1f, 0x8b}
	magicZstd = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// maxWindow bounds the memory of zstd, as its command does.
const maxWindow = 128 << 20

// Decompress returns the input as it was before it was compressed by gzip or zstd. Whatever its length,
// it is a stream. The caller calls close.
func Decompress(r io.Reader) (plain io.Reader, closer func(), err error) {
	b := bufio.NewReaderSize(r, 64<<10)
	magic, err := b.Peek(len(magicZstd))
	if err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("reading the input: %w", err)
	}
	switch {
	case bytes.HasPrefix(magic, magicGzip):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, nil, fmt.Errorf("decompressing the input by gzip: %w", err)
		}
		return z, func() { _ = z.Close() }, nil // it has been read
	case bytes.Equal(magic, magicZstd):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, fmt.Errorf("decompressing the input by zstd: %w", err)
		}
		return z, z.Close, nil
	default:
		return b, func() {}, nil
	}
}
