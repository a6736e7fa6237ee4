package tabular

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Limits of a table, so that memory usage is bounded by a few records.
const (
	MaxRecord = 1 << 20   // bytes of a row
	MaxCells  = 2000      // of a row; a name has at most 100 targets of 10 columns
	MaxCell   = 256 << 10 // bytes of a cell
)

const (
	// blockSize is the number of bytes that are read before parsing.
	blockSize = 64 << 10
	// shown is the length in bytes to which a row that is too long is cut.
	shown = 1000
)

var (
	errLong  = fmt.Errorf("it has more than %d bytes", MaxRecord)
	errOpen  = errors.New("a quotation mark is not closed")
	errCells = fmt.Errorf("it has more than %d cells", MaxCells)
	errCell  = fmt.Errorf("one of its cells has more than %d bytes", MaxCell)
)

// ErrEmpty is the error of a table without column names.
var ErrEmpty = errors.New("the input is empty: the first line must name the columns, such as name,target")

// Row is a record of a table.
type Row struct {
	Line  int64  // number of its first line in the input, from 1
	Text  string // as in the input, cut if it is too long
	Cells []string
	Err   error // why the row is invalid; there are no cells then
}

// Empty reports whether all cells of a valid row are empty.
func (r *Row) Empty() bool {
	for _, cell := range r.Cells {
		if cell != "" {
			return false
		}
	}
	return r.Err == nil
}

// Reader reads the rows of a table as a stream. It is not safe for concurrent use.
type Reader struct {
	in        io.Reader
	separator byte
	b         []byte // read, but not yet part of a row
	offset    int64  // offset of b in the input
	line      int64  // number of the first line of b
	eof       bool
	rows      *rows // rows of b; nil before b is parsed

	taken  int64 // bytes in rows
	reread int64 // bytes parsed again because the first line begins an unterminated record
}

// NewReader returns a Reader of UTF-8 without a byte order mark. The separator 0 is detected: it is the most
// frequent of comma, semicolon and tab in the first line. A first line "sep=;", as Excel writes it, specifies
// another separator.
func NewReader(in io.Reader, separator byte) *Reader {
	return &Reader{in: in, separator: separator, b: make([]byte, 0, MaxRecord), line: 1}
}

// Header returns the names of the columns without surrounding spaces. It must be called first.
func (r *Reader) Header() (Row, error) {
	if err := r.begin(); err != nil {
		return Row{}, err
	}
	row, err := r.Read()
	if err == nil {
		err = row.Err
	}
	if err != nil {
		return Row{}, fmt.Errorf("column names: %w", err)
	}
	for i, cell := range row.Cells {
		row.Cells[i] = strings.TrimSpace(cell)
	}
	return row, nil
}

// begin skips the lines before the names of the columns and detects the separator.
func (r *Reader) begin() error {
	for reported := false; ; {
		if err := r.fill(cap(r.b)); err != nil {
			return err
		}
		if len(r.b) == 0 {
			return ErrEmpty
		}
		end := bytes.IndexByte(r.b, '\n')
		if end < 0 {
			return fmt.Errorf("column names: %w", errLong)
		}
		line := string(r.b[:end])
		separator, ok := strings.CutPrefix(strings.TrimRight(line, "\r"), "sep=")
		switch {
		case ok && !reported && isSeparator(separator):
			r.separator, reported = separator[0], true
		case strings.TrimSpace(line) != "":
			if r.separator == 0 {
				r.separator = separatorOf(line)
			}
			return nil
		}
		r.take(end + 1)
	}
}

// isSeparator reports whether text is a valid separator of cells.
func isSeparator(text string) bool {
	return len(text) == 1 && text[0] < utf8.RuneSelf && strings.IndexByte("\"\r\n\x00", text[0]) < 0
}

// separatorOf detects the separator of a first line.
func separatorOf(line string) byte {
	best, most := byte(','), 0
	for _, separator := range []byte{',', ';', '\t'} {
		if n := strings.Count(line, string(separator)); n > most {
			best, most = separator, n
		}
	}
	return best
}

// Separator returns the separator of cells. It must be called after Header.
func (r *Reader) Separator() byte { return r.separator }

// Offset returns the offset in the input after the last row that was read.
func (r *Reader) Offset() int64 {
	if r.rows == nil {
		return r.offset
	}
	return r.offset + int64(r.rows.end)
}

// Read returns the next row, or io.EOF after the last one. Empty lines are skipped. After any other error
// nothing more is read.
func (r *Reader) Read() (Row, error) {
	for want := blockSize; ; {
		if r.rows != nil {
			row, err := r.rows.next()
			if err == nil {
				return row, nil
			}
			if n := r.rows.end; n > 0 {
				r.take(n)
			} else {
				want = 2 * len(r.b) // the record is longer
			}
			whole := len(r.b) > 0 && (r.eof || len(r.b) == cap(r.b)) && r.rows.end == 0
			if r.rows = nil; whole {
				return r.broken()
			}
		}
		if err := r.fill(want); err != nil {
			return Row{}, err
		}
		if len(r.b) == 0 {
			return Row{}, io.EOF
		}
		r.rows = newRows(string(r.b), r.line, r.separator)
	}
}

// fill reads until n bytes are buffered, or the input ends.
func (r *Reader) fill(n int) error {
	n = min(n, cap(r.b))
	for !r.eof && len(r.b) < n {
		k, err := r.in.Read(r.b[len(r.b):n])
		r.b = r.b[:len(r.b)+k]
		switch {
		case errors.Is(err, io.EOF):
			r.eof = true
			if len(r.b) > 0 && r.b[len(r.b)-1] != '\n' {
				r.b = append(r.b, '\n') // may reallocate
			}
		case err != nil:
			return fmt.Errorf("reading the input: %w", err)
		}
	}
	return nil
}

// broken returns a line that is too long, or that begins an unterminated record.
func (r *Reader) broken() (Row, error) {
	row := Row{Line: r.line, Text: string(r.b[:min(len(r.b), shown)]), Err: errLong}
	if n := bytes.IndexByte(r.b, '\n') + 1; n > 0 {
		if r.reread += int64(len(r.b)); r.reread > 4*r.taken+maxReread {
			return Row{}, fmt.Errorf("reading the input: line %d: %w: too many such errors", r.line, errOpen)
		}
		row.Text, row.Err = string(r.b[:n]), errOpen
		r.take(n)
		return row, nil
	}
	for {
		if n := bytes.IndexByte(r.b, '\n') + 1; n > 0 {
			r.take(n)
			return row, nil
		}
		r.take(len(r.b))
		if r.eof {
			return row, nil
		}
		if err := r.fill(1); err != nil {
			return Row{}, err
		}
	}
}

// take removes the first n bytes.
func (r *Reader) take(n int) {
	r.line += int64(bytes.Count(r.b[:n], []byte{'\n'}))
	r.taken, r.offset = r.taken+int64(n), r.offset+int64(n)
	r.b = r.b[:copy(r.b, r.b[n:])]
}
