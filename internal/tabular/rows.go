package tabular

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
)

// rows reads the records of a text with encoding/csv, and differs from it for some common output of
// spreadsheets and users: quotation marks in an unquoted field are ordinary characters, spaces around such a
// field are removed, and line ends in a quoted field are preserved.
type rows struct {
	separator byte
	text      string // complete lines
	end       int    // end of the last record
	number    int64  // line number at end

	ahead *bufio.Reader // input of csv
	csv   *csv.Reader
	base  int // start of the input of csv
	begin int // start of the last record read by csv
	line  int // line number at begin, as counted by csv
}

var (
	errAfterQuote = errors.New("a quoted field is followed by text: quotation marks within it must be doubled")
	errMarks      = errors.New("it is too long for its number of undoubled quotation marks")
)

// maxReread limits the bytes of a record that are parsed again because of its quotation marks.
const maxReread = 8 * MaxRecord

// newRows reads a text whose first line has this number. An incomplete last line is ignored.
func newRows(text string, number int64, separator byte) *rows {
	r := &rows{
		separator: separator, text: text[:strings.LastIndexByte(text, '\n')+1], number: number,
		ahead: bufio.NewReader(nil),
	}
	r.readFrom(0)
	return r
}

// readFrom restarts csv at an offset.
func (r *rows) readFrom(at int) {
	r.ahead.Reset(strings.NewReader(r.text[at:]))
	r.csv = csv.NewReader(r.ahead)
	r.csv.Comma, r.csv.FieldsPerRecord = rune(r.separator), -1
	r.base, r.begin, r.line = at, at, 1
}

// offset returns the offset of a column of a line, both as counted by csv.
func (r *rows) offset(line, column int) int {
	i := r.begin
	for range line - r.line {
		i += strings.IndexByte(r.text[i:], '\n') + 1
	}
	return i + column - 1
}

// next returns the next row. It returns io.EOF after the last one, and errOpen if the text ends within a
// record, which begins at end.
func (r *rows) next() (Row, error) {
	bound, err := r.bound()
	if err != nil {
		return Row{}, err
	}
	if bound.Err != nil {
		return bound, nil //nolint:nilerr // the error is part of the row
	}
	read, begin := Row{}, -1
	for reread := 0; ; {
		part, err := r.csv.Read()
		var stopped *csv.ParseError
		var line int
		switch {
		case err == nil:
			line, _ = r.csv.FieldPos(0)
		case errors.As(err, &stopped):
			line = stopped.StartLine
		default:
			return read, err
		}
		r.begin, r.line = r.offset(line, 1), line // csv has skipped empty lines
		if begin < 0 {
			begin = r.begin
			r.number += int64(strings.Count(r.text[r.end:begin], "\n"))
			r.end = begin
		}
		if stopped == nil {
			end := r.base + int(r.csv.InputOffset())
			read.Cells = append(read.Cells, r.cells(part, end-1)...)
			return r.ended(read, end), nil
		}
		at := r.offset(stopped.Line, stopped.Column)
		if at >= len(r.text) || r.text[at] != '"' {
			return read, errOpen
		}
		at = r.field(&read, part, at, stopped.Err)
		lineEnd := at + strings.IndexByte(r.text[at:], '\n')
		switch rest := r.text[at:lineEnd]; {
		case rest == "":
			return r.ended(read, lineEnd+1), nil
		case strings.TrimRight(rest[1:], "\r") == "": // csv would omit it
			read.Cells = append(read.Cells, "")
			return r.ended(read, lineEnd+1), nil
		}
		if reread += lineEnd - at; reread > maxReread {
			read.Err = errMarks
			return r.ended(read, lineEnd+1), nil
		}
		r.readFrom(at + 1)
	}
}

// bound skips a record with too many or too long cells before csv allocates them, and returns it with its Err.
func (r *rows) bound() (Row, error) {
	begin := r.end
	for strings.HasPrefix(r.text[begin:], "\n") || strings.HasPrefix(r.text[begin:], "\r\n") { // csv skips empty lines
		begin += strings.IndexByte(r.text[begin:], '\n') + 1
	}
	if begin == len(r.text) {
		r.end = begin
		return Row{}, io.EOF
	}
	end, failure := r.extent(begin)
	switch {
	case end < 0:
		r.end = begin
		return Row{}, errOpen
	case failure == nil:
		return Row{}, nil
	}
	r.number += int64(strings.Count(r.text[r.end:begin], "\n"))
	row := Row{Line: r.number, Text: r.text[begin:end], Err: failure}
	r.number += int64(strings.Count(row.Text, "\n"))
	r.end = end
	r.readFrom(end)
	return row, nil
}

// extent returns the end of the record at begin, -1 if the text ends before, and the error of a record that
// exceeds a limit.
func (r *rows) extent(begin int) (end int, failure error) {
	cells, cell := 1, begin
	for i := begin; i < len(r.text); i++ {
		switch r.text[i] {
		case '"':
			if i > cell {
				continue // an ordinary character
			}
			length := quotedLength(r.text[i:])
			if length < 0 {
				return -1, nil
			}
			i += length - 1
			continue
		case '\n', r.separator:
		default:
			continue
		}
		if i-cell > MaxCell {
			failure = errCell
		}
		if r.text[i] == '\n' {
			return i + 1, failure
		}
		if cell, cells = i+1, cells+1; cells > MaxCells {
			failure = errCells
		}
	}
	return -1, nil
}

// quotedLength returns the length of the quoted part at the beginning of text, -1 if it is unterminated.
func quotedLength(text string) int {
	for i := 1; ; i++ {
		n := strings.IndexByte(text[i:], '"')
		if n < 0 {
			return -1
		}
		if i += n + 1; !strings.HasPrefix(text[i:], `"`) {
			return i
		}
	}
}

// field appends the fields that csv has read, and the field with the quotation mark at which csv stopped. It
// returns the end of that field.
func (r *rows) field(read *Row, before []string, at int, failure error) (end int) {
	for end = at; r.text[end] != r.separator && r.text[end] != '\n'; {
		end++
	}
	if errors.Is(failure, csv.ErrQuote) {
		read.Err = errAfterQuote
		return end
	}
	begin := r.begin + strings.LastIndexAny(r.text[r.begin:at], string(rune(r.separator))+"\n") + 1
	read.Cells = append(read.Cells, r.cells(before, begin-1)...)
	read.Cells = append(read.Cells, trimCell(r.text[begin:end]))
	return end
}

// ended returns a row whose record ends at a line end, up to which csv has read.
func (r *rows) ended(read Row, end int) Row {
	read.Line, read.Text = r.number, r.text[r.end:end]
	r.line += strings.Count(r.text[r.begin:end], "\n")
	r.number += int64(strings.Count(read.Text, "\n"))
	r.begin, r.end = end, end
	return read
}

// cells returns the fields read by csv in their original form in the text; end is the end of the last one.
func (r *rows) cells(read []string, end int) []string {
	spaces := func(cell string) bool { return trimCell(cell) != cell }
	if len(read) == 0 || !strings.Contains(r.text[r.begin:end], "\r\n") && !slices.ContainsFunc(read, spaces) {
		return read
	}
	at, line := r.begin, r.line
	beginOf := func(i int) int { // called in ascending order
		in, column := r.csv.FieldPos(i)
		for ; line < in; line++ {
			at += strings.IndexByte(r.text[at:], '\n') + 1
		}
		return at + column - 1
	}
	begin := beginOf(0)
	for i := range read {
		next := end + 1
		if i < len(read)-1 {
			next = beginOf(i + 1)
		}
		read[i] = cellOf(r.text[begin : next-1])
		begin = next
	}
	return read
}

// cellOf returns the field with this text.
func cellOf(text string) string {
	if !strings.HasPrefix(text, `"`) {
		return trimCell(text)
	}
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimRight(text[1:], "\r"), `"`), `""`, `"`)
}

// trimCell removes the spaces around an unquoted field.
func trimCell(text string) string { return strings.Trim(text, " \t\r") }
