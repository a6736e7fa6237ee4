package tabular

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Bounds of a table, so that no input takes more memory than a few records of its own length.
const (
	MaxRecord = 1 << 20   // bytes of a row
	MaxCells  = 2000      // of a row; a name has at most 100 targets of 10 columns
	MaxCell   = 256 << 10 // bytes of a cell
)

const (
	// blockSize is how much is read before it is parsed.
	blockSize = 64 << 10
	// shown is how much there is of a row that is too long, in bytes.
	shown = 1000
)

var (
	errLong  = fmt.Errorf("it has more than %d bytes", MaxRecord)
	errOpen  = errors.New("a quotation mark is not closed")
	errCells = fmt.Errorf("it has more than %d cells", MaxCells)
	errCell  = fmt.Errorf("a cell of it has more than %d bytes", MaxCell)
)

// ErrEmpty is the error of a table without the names of its columns.
var ErrEmpty = errors.New("the input is empty: the first line is to name the columns, such as name,target")

// Row is a record of a table.
type Row struct {
	Line  int64  // of its first line; 1 is the first one of the input
	Text  string // as it is in the input, only the beginning where it is too long
	Cells []string
	Err   error // why it cannot be taken; then there are no cells
}

// Empty reports whether nothing is in any cell.
func (r *Row) Empty() bool {
	for _, cell := range r.Cells {
		if cell != "" {
			return false
		}
	}
	return r.Err == nil
}

// Reader reads the rows of a table, which it never has as a whole. It is not safe for concurrent use.
type Reader struct {
	in        io.Reader
	separator byte
	b         []byte // what was read, and is in no row yet
	offset    int64  // of b in the input
	line      int64  // the number of the first line of b
	eof       bool
	rows      *rows // of b; nil before it was parsed

	taken  int64 // bytes in rows
	reread int64 // bytes that are parsed again because the first line begins a record without an end
}

// NewReader returns a Reader of UTF-8 without a byte order mark. The separator 0 is found out: it is the one of comma, semicolon and tab
// that the first line has most of. A first line "sep=;", as Excel writes it, says another one.
func NewReader(in io.Reader, separator byte) *Reader {
	return &Reader{in: in, separator: separator, b: make([]byte, 0, MaxRecord), line: 1}
}

// Header returns the names of the columns, without spaces around them. It is called first.
func (r *Reader) Header() (Row, error) {
	if err := r.begin(); err != nil {
		return Row{}, err
	}
	row, err := r.Read()
	if err == nil {
		err = row.Err
	}
	if err != nil {
		return Row{}, fmt.Errorf("the names of the columns: %w", err)
	}
	for i, cell := range row.Cells {
		row.Cells[i] = strings.TrimSpace(cell)
	}
	return row, nil
}

// begin leaves out what comes before the names of the columns, and finds out what separates them.
func (r *Reader) begin() error {
	for isSaid := false; ; {
		if err := r.fill(cap(r.b)); err != nil {
			return err
		}
		if len(r.b) == 0 {
			return ErrEmpty
		}
		end := bytes.IndexByte(r.b, '\n')
		if end < 0 {
			return fmt.Errorf("the names of the columns: %w", errLong)
		}
		line := string(r.b[:end])
		separator, ok := strings.CutPrefix(strings.TrimRight(line, "\r"), "sep=")
		switch {
		case ok && !isSaid && isSeparator(separator):
			r.separator, isSaid = separator[0], true
		case strings.TrimSpace(line) != "":
			if r.separator == 0 {
				r.separator = separatorOf(line)
			}
			return nil
		}
		r.take(end + 1)
	}
}

// isSeparator reports whether a text can separate cells.
func isSeparator(text string) bool {
	return len(text) == 1 && text[0] < utf8.RuneSelf && strings.IndexByte("\"\r\n\x00", text[0]) < 0
}

// separatorOf returns what separates the cells of a first line.
func separatorOf(line string) byte {
	best, most := byte(','), 0
	for _, separator := range []byte{',', ';', '\t'} {
		if n := strings.Count(line, string(separator)); n > most {
			best, most = separator, n
		}
	}
	return best
}

// Separator returns what separates the cells, once Header has returned.
func (r *Reader) Separator() byte { return r.separator }

// Offset returns how many bytes of the input are in the rows that were read, or before them.
func (r *Reader) Offset() int64 {
	if r.rows == nil {
		return r.offset
	}
	return r.offset + int64(r.rows.end)
}

// Read returns the next row; io.EOF after the last one. Lines that are empty are not among them. After another error nothing more is read.
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
				want = 2 * len(r.b) // the record has more
			}
			isWhole := len(r.b) > 0 && (r.eof || len(r.b) == cap(r.b)) && r.rows.end == 0
			if r.rows = nil; isWhole {
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

// fill reads until there are n bytes, or all.
func (r *Reader) fill(n int) error {
	n = min(n, cap(r.b))
	for !r.eof && len(r.b) < n {
		k, err := r.in.Read(r.b[len(r.b):n])
		r.b = r.b[:len(r.b)+k]
		switch {
		case errors.Is(err, io.EOF):
			r.eof = true
			if len(r.b) > 0 && r.b[len(r.b)-1] != '\n' {
				r.b = append(r.b, '\n') // it may grow here
			}
		case err != nil:
			return fmt.Errorf("reading the input: %w", err)
		}
	}
	return nil
}

// broken returns a line that is too long, or that begins a record without an end.
func (r *Reader) broken() (Row, error) {
	row := Row{Line: r.line, Text: string(r.b[:min(len(r.b), shown)]), Err: errLong}
	if n := bytes.IndexByte(r.b, '\n') + 1; n > 0 {
		if r.reread += int64(len(r.b)); r.reread > 4*r.taken+maxReread {
			return Row{}, fmt.Errorf("reading the input: line %d: %w, as too often before", r.line, errOpen)
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
