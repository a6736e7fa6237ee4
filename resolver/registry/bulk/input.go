package bulk

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk/foreign"
)

const (
	// blockSize and maxBlock bound a block: in bytes, and in lines.
	blockSize = 64 << 10
	maxBlock  = 1000
	// shown is how many bytes are peeked to detect the format.
	shown = 1000
)

// block is a part of the input. It calls take for each of its lines, with the error if the line cannot be
// imported. take must not retain the line, which is reused.
type block func(take func(l *line, input string, err error))

// input is an input whose format is known.
type input struct {
	// next returns the next block, which may be parsed in parallel with others; io.EOF after the last one.
	next    func() (block, error)
	ignored []string
	close   func()
}

// openInput detects compression and format, and returns the input of r.
func (i *Import) openInput(r io.Reader) (*input, error) {
	if err := i.CheckOptions(); err != nil {
		return nil, err
	}
	m, err := newMapping(i.Mapping)
	if err != nil {
		return nil, err
	}
	plain, closer, err := Decompress(r)
	if err != nil {
		return nil, err
	}
	in := &input{close: closer}
	source, err := i.Encoding.NewSource(plain)
	if err == nil {
		err = in.begin(source, i, m)
	}
	if err != nil {
		closer()
		return nil, err
	}
	return in, nil
}

// begin detects the format and sets the reader of blocks.
func (in *input) begin(source *charset.Source, i *Import, m mapping) error {
	start, err := source.Peek(shown)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the input: %w", err)
	}
	isObject := strings.HasPrefix(strings.TrimLeft(string(start), " \t\r\n"), "{")
	if f := traitsOf(i.Format).foreign; f != nil {
		from, err := foreign.NewReader(f, source, i.Base)
		in.next = func() (block, error) { return itemBlock(from) }
		return err
	}
	if i.Format == NDJSON || i.Format == Detect && isObject {
		in.next = (&rows{tabular.NewLines(source).Read, isBlank, source, m.objectParser}).next
		return nil
	}
	d := &delimited{table: tabular.NewReader(source, i.Format.separator())}
	in.next = (&rows{d.table.Read, (*tabular.Row).Empty, source, d.parser}).next
	in.ignored, err = d.begin(source, m)
	if err != nil && isObject {
		err = fmt.Errorf("%w; the input looks like NDJSON, but was read as %s", err, i.Format)
	}
	return err
}

// itemBlock returns a block of entries of a foreign format.
func itemBlock(from *foreign.Reader) (block, error) {
	items, err := from.Next()
	return func(take func(l *line, input string, err error)) {
		for _, i := range items {
			l := lineOfItem(i)
			err := i.Err
			if err == nil {
				err = l.finish()
			}
			take(&l, i.Input, err)
		}
	}, err
}

// rows is an input of rows, CSV or NDJSON.
type rows struct {
	read   func() (tabular.Row, error)
	empty  func(*tabular.Row) bool
	source *charset.Source
	parser func() func(l *line, row *tabular.Row) error // called once for each block
}

// isBlank reports whether a row is empty or white space.
func isBlank(row *tabular.Row) bool { return strings.TrimSpace(row.Text) == "" }

// next implements input.next.
func (f *rows) next() (block, error) {
	var all []tabular.Row
	for size := 0; size < blockSize && len(all) < maxBlock; {
		row, err := f.read()
		if errors.Is(err, io.EOF) && len(all) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if !f.empty(&row) {
			all = append(all, row)
		}
		size += len(row.Text) + 1
	}
	return func(take func(l *line, input string, err error)) {
		parse := f.parser()
		var l line
		for i := range all {
			row := &all[i]
			// Reuse the targets' memory.
			l = line{number: row.Line, entry: registry.Entry{Record: registry.Record{Targets: l.entry.Targets[:0]}}}
			err := row.Err
			if err == nil {
				if err = f.source.Check(row.Text); err != nil {
					err = refusal("line_encoding", "%w", err)
				}
			}
			if err == nil {
				err = parse(&l, row)
			}
			if err == nil {
				err = l.finish()
			}
			take(&l, row.Text, err)
		}
	}, nil
}

// The magic numbers of compressed input (RFC 1952 section 2.3.1, RFC 8878 section 3.1.1).
var (
	magicGzip = []byte{0x1f, 0x8b}
	magicZstd = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// maxWindow bounds the memory of zstd decompression, like the zstd command.
const maxWindow = 128 << 20

// Decompress detects gzip and zstd and returns the uncompressed input as a stream. The caller calls closer.
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
			return nil, nil, fmt.Errorf("decompressing the input with gzip: %w", err)
		}
		return z, func() { _ = z.Close() }, nil // an error would have been returned by Read
	case bytes.Equal(magic, magicZstd):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, fmt.Errorf("decompressing the input with zstd: %w", err)
		}
		return z, z.Close, nil
	default:
		return b, func() {}, nil
	}
}
