package bulk

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// parser reads the lines of blocks. It is safe for concurrent use.
type parser interface {
	// lines calls take for each line of a block that is not empty. The line is used again afterwards.
	lines(b block, take func(l *line, input string, fault error))
}

// input is input whose format is known.
type input struct {
	*blocks
	translation *translation // of a foreign format, in place of blocks
	parser
	ignored []string
	close   func()
}

// openInput returns the input that r has, plain or compressed.
func openInput(r io.Reader, format Format, names map[string]string, base string) (*input, error) {
	m, err := newMapping(names)
	if err != nil {
		return nil, err
	}
	plain, closer, err := decompress(r)
	if err != nil {
		return nil, err
	}
	from, err := openForeign(format, plain, base)
	if err != nil {
		closer()
		return nil, err
	}
	if from != nil {
		t := &translation{from: from}
		return &input{translation: t, parser: t, close: closer}, nil
	}
	in := &input{blocks: newBlocks(plain, cutLines), close: closer}
	if err := in.begin(format, m); err != nil {
		closer()
		return nil, err
	}
	return in, nil
}

// next returns the next block; io.EOF after the last one.
func (in *input) next() (block, error) {
	if in.translation != nil {
		return in.translation.next()
	}
	return in.blocks.next()
}

const byteOrderMark = "\ufeff"

// begin finds out how the input is to be read.
func (in *input) begin(format Format, m mapping) error {
	if err := in.fill(blockSize); err != nil {
		return err
	}
	switch start := string(in.b[:min(len(in.b), 3)]); {
	case start == byteOrderMark:
		in.take(len(byteOrderMark), nil)
	case strings.HasPrefix(start, "\xff\xfe"), strings.HasPrefix(start, "\xfe\xff"):
		return errors.New("the input is UTF-16: save it as UTF-8")
	}
	isObject := strings.HasPrefix(strings.TrimLeft(string(in.b[:min(len(in.b), shown)]), " \t\r\n"), "{")
	if format == Detect {
		format = CSV
		if isObject {
			format = NDJSON
		}
	}
	switch format {
	case NDJSON:
		in.parser = &ndjson{m}
		return nil
	case CSV, TSV:
		err := in.beginTable(format, m)
		if err != nil && isObject {
			err = fmt.Errorf("%w; it begins as NDJSON does, and was read as %s", err, format)
		}
		return err
	default:
		return fmt.Errorf("%s is not a format of imports", format)
	}
}

// beginTable reads the names of the columns.
func (in *input) beginTable(format Format, m mapping) error {
	d := &delimited{separator: '\t'}
	first := ""
	for strings.TrimSpace(first) == "" {
		b, err := in.first()
		if errors.Is(err, io.EOF) {
			return errors.New("the input is empty: the first line is to name the columns, such as name,target")
		}
		if err != nil {
			return err
		}
		first = b.text
		separator, ok := strings.CutPrefix(strings.TrimRight(first, "\r\n"), "sep=")
		if ok && len(separator) == 1 && separator[0] < utf8.RuneSelf {
			d.separator, format, first = separator[0], Detect, "" // as Excel writes and reads it
		}
	}
	if format == CSV {
		d.separator = separatorOf(first)
	}
	var err error
	in.ignored, err = d.header(first, m)
	in.cut, in.parser = d.cut, d
	return err
}

// first returns the first line.
func (s *blocks) first() (block, error) {
	if err := s.fill(cap(s.b)); err != nil {
		return block{}, err
	}
	if len(s.b) == 0 {
		return block{}, io.EOF
	}
	for i, c := range s.b {
		if c == '\n' {
			return s.take(i+1, nil), nil
		}
	}
	return block{}, fmt.Errorf("the first line: %w", errLong)
}
