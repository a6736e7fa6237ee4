// Package tabular reads and writes tables in CSV (RFC 4180) and TSV for imports, exports, the API and pages. A
// Reader takes UTF-8 (see package charset) and returns rows with their line numbers, within limits of memory; a
// Writer takes cells and quotes them. Cells that spreadsheets would execute as formulas are guarded by an
// apostrophe. Lines reads the lines of a text as rows.
package tabular

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

// guard is the prefix of cells that spreadsheets would execute as formulas; they do not display it.
const guard = "'"

// guarded returns a cell that spreadsheets display without executing it. A cell that already begins with guards
// gets another one, so that Unguard is the inverse.
func guarded(cell string) string {
	if isFormula(strings.TrimLeft(cell, guard)) {
		return guard + cell
	}
	return cell
}

// Unguard removes the guard that a Writer has added to a cell.
func Unguard(cell string) string {
	if rest, ok := strings.CutPrefix(cell, guard); ok && isFormula(strings.TrimLeft(rest, guard)) {
		return rest
	}
	return cell
}

// isFormula reports whether spreadsheets execute a cell, which depends on its first character, also after
// spaces. Fullwidth forms are treated like ASCII characters.
func isFormula(cell string) bool {
	cell = strings.TrimLeft(cell, " ")
	for _, begin := range []string{"=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"} {
		if strings.HasPrefix(cell, begin) {
			_, err := strconv.Atoi(cell)
			return err != nil // a number, such as a priority, is harmless
		}
	}
	return false
}

// Lines reads the lines of a text as rows without cells, each of at most MaxRecord bytes. It is not safe for
// concurrent use.
type Lines struct {
	r      *bufio.Reader
	line   int64
	peeked *Row
}

// NewLines returns a reader of the lines of r, which must be UTF-8.
func NewLines(r io.Reader) *Lines { return &Lines{r: bufio.NewReaderSize(r, blockSize)} }

// Read returns the next line without its line end, or io.EOF after the last one.
func (l *Lines) Read() (Row, error) {
	if row := l.peeked; row != nil {
		l.peeked = nil
		return *row, nil
	}
	var b []byte
	row := Row{Line: l.line + 1}
	for {
		part, err := l.r.ReadSlice('\n')
		if left := MaxRecord - len(b); len(part) > left {
			part, row.Err = part[:left], errLong
		}
		isPart := errors.Is(err, bufio.ErrBufferFull)
		if b != nil || isPart {
			b = append(b, part...)
			part = b
		}
		switch {
		case isPart:
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(part) == 0):
			return Row{}, err
		}
		l.line++
		row.Text = strings.TrimRight(string(part), "\r\n")
		if row.Err != nil {
			row.Text = row.Text[:min(len(row.Text), shown)]
		}
		return row, nil
	}
}

// ReadIf reads the next line if belongs returns true for it. Otherwise ok is false and the line remains the
// next one; ok is also false at the end.
func (l *Lines) ReadIf(belongs func(Row) bool) (row Row, ok bool, err error) {
	next, err := l.Read()
	switch {
	case errors.Is(err, io.EOF):
		return Row{}, false, nil
	case err != nil:
		return Row{}, false, err
	case !belongs(next):
		l.peeked = &next
		return Row{}, false, nil
	}
	return next, true, nil
}
