package bulk

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/tabular"
)

const (
	// maxLine bounds a line of the input, in bytes.
	maxLine = 1 << 20
	// blockSize and maxBlock bound what is parsed together: bytes, and lines.
	blockSize = 64 << 10
	maxBlock  = 1000
)

var errLong = fmt.Errorf("it has more than %d bytes", maxLine)

// block is a part of the input: rows of a table, lines, or entries of a foreign format.
type block struct {
	rows  []tabular.Row
	texts []textLine
	items []*item
}

// format reads a format.
type format interface {
	// next returns the next block; io.EOF after the last one.
	next() (block, error)
	// lines calls take for each line of a block that is not empty. The line is used again afterwards. It is safe for concurrent use.
	lines(b block, take func(l *line, input string, fault error))
}

// input is input whose format is known.
type input struct {
	format
	ignored []string
	close   func()
}

// openInput returns the input that r has, plain or compressed.
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

// begin finds out how the input is to be read.
func (in *input) begin(source *charset.Source, i *Import, m mapping) error {
	start, err := source.Peek(shown)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the input: %w", err)
	}
	isObject := strings.HasPrefix(strings.TrimLeft(string(start), " \t\r\n"), "{")
	switch of := i.Format; {
	case of == NDJSON, of == Detect && isObject:
		in.format = &ndjson{newTextLines(source), source, m}
	case of == Detect, of == CSV, of == TSV:
		d := &delimited{source: source}
		in.format = d
		in.ignored, err = d.begin(of, m)
		if err != nil && isObject {
			err = fmt.Errorf("%w; it begins as NDJSON does, and was read as %s", err, of)
		}
		return err
	default:
		in.format, err = newTranslation(of, source, i.Base)
		return err
	}
	return nil
}
