// Package tabular reads and writes CSV (RFC 4180) and TSV, for imports, exports, the API and pages alike: what divides cells, quotation
// marks, the names of the columns, the numbers of lines, bounds, and cells that spreadsheets would take for formulas. What it reads is UTF-8
// already: see package charset.
package tabular

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

// guard begins a cell that spreadsheets would take for a formula: they do not show it.
const guard = "'"

// guarded returns a cell that spreadsheets show and do not compute. What is a guard of its own in it gets another one, so that unguarded is
// its inverse.
func guarded(cell string) string {
	if isFormula(strings.TrimLeft(cell, guard)) {
		return guard + cell
	}
	return cell
}

// Unguarded returns the cell of which a Writer has made another one.
func Unguarded(cell string) string {
	if rest, ok := strings.CutPrefix(cell, guard); ok && isFormula(strings.TrimLeft(rest, guard)) {
		return rest
	}
	return cell
}

// isFormula reports whether spreadsheets compute a cell, by what it begins with, also after spaces. The wide forms are those that they
// take for the others.
func isFormula(cell string) bool {
	cell = strings.TrimLeft(cell, " ")
	for _, begin := range []string{"=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"} {
		if strings.HasPrefix(cell, begin) {
			_, err := strconv.Atoi(cell)
			return err != nil // a number, such as a priority, computes nothing
		}
	}
	return false
}

// Lines reads the lines of a text as rows without cells, each of at most MaxRecord bytes. It is not safe for concurrent use.
type Lines struct {
	r      *bufio.Reader
	line   int64
	peeked *Row
}

// NewLines returns what reads the lines of r, which is UTF-8.
func NewLines(r io.Reader) *Lines { return &Lines{r: bufio.NewReaderSize(r, blockSize)} }

// Read returns the next line without its end; io.EOF after the last one.
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

// ReadIf is Read if the next line belongs to what was read before it; ok is false if it does not, and stays the next one, or there is none.
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
