package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// delimited reads CSV (RFC 4180) and what is like it. A field is quoted where it begins with a
// quotation mark; elsewhere that is an ordinary character.
type delimited struct {
	separator byte
	columns   []column
}

// cut implements that of blocks: quoted fields may have several lines.
func (d *delimited) cut(text []byte) int {
	if bytes.IndexByte(text, '"') < 0 {
		return cutLines(text)
	}
	end := 0
	for begin := true; len(text) > end; begin = true {
		i := end
		for i < len(text) && (begin || text[i-1] != '\n') {
			if begin && text[i] == '"' {
				if i = afterQuoted(text, i); i == len(text) {
					return end
				}
			}
			begin = text[i] == d.separator
			i++
		}
		if text[i-1] != '\n' {
			return end
		}
		end = i
	}
	return end
}

// afterQuoted returns where the quoted field that begins at i has ended; the length of text if it has
// not.
func afterQuoted[T string | []byte](text T, i int) int {
	for i++; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		if i++; i == len(text) || text[i] != '"' {
			return i
		}
	}
	return len(text)
}

var (
	errAfterQuote = errors.New("a quoted field is followed by text: quotation marks within it are doubled")
	errCells      = errors.New("it has more fields than there are columns")
)

// lines implements parser.
func (d *delimited) lines(b block, take func(l *line, input string, fault error)) {
	text, number := b.text, b.line
	var l line
	for text != "" {
		targets := l.entry.Targets[:0]
		l = line{number: number}
		l.entry.Targets = targets // its memory is used again
		n, empty, fault := d.record(text, &l)
		input := text[:n]
		text = text[n:]
		number += int64(strings.Count(input, "\n"))
		if empty {
			continue
		}
		if fault == nil {
			fault = l.finish()
		}
		take(&l, input, fault)
	}
}

// record sets the fields of a line from the record that text begins with. It returns how long that is, and whether
// there is nothing in it.
func (d *delimited) record(text string, l *line) (n int, empty bool, fault error) {
	empty = true
	for column := 0; ; column++ {
		cell, end, err := d.cell(text[n:])
		n += end
		done := text[n-1] == '\n'
		empty = empty && cell == ""
		switch {
		case fault != nil:
		case err != nil:
			fault = err
		case column < len(d.columns):
			fault = l.set(d.columns[column], cell)
		case cell != "":
			fault = errCells
		}
		if done {
			return n, empty, fault
		}
	}
}

// cell returns the first field of a text that ends with a line feed, and how long it is with what
// ends it.
func (d *delimited) cell(text string) (cell string, n int, err error) {
	if text[0] == '"' {
		end := afterQuoted(text, 0)
		if end == len(text) {
			return "", end, errOpen
		}
		cell = text[1 : end-1]
		if strings.IndexByte(cell, '"') >= 0 {
			cell = strings.ReplaceAll(cell, `""`, `"`)
		}
		if text[end] == d.separator || text[end] == '\n' {
			return cell, end + 1, nil
		}
		if text[end] == '\r' && text[end+1] == '\n' {
			return cell, end + 2, nil
		}
		text, n, err = text[end:], end, errAfterQuote
	}
	for i := 0; ; i++ {
		if text[i] == d.separator || text[i] == '\n' {
			return trimCell(text[:i]), n + i + 1, err
		}
	}
}

// trimCell returns a field without the spaces around it; those of a quoted one belong to it.
func trimCell(text string) string { return strings.Trim(text, " \t\r") }

// header sets the columns from the first line. It returns those that are left out.
func (d *delimited) header(text string, m mapping) (ignored []string, err error) {
	seen := make(map[column]bool)
	var unknown []string
	for n := 0; n < len(text); {
		cell, end, err := d.cell(text[n:])
		if err != nil {
			return nil, fmt.Errorf("the names of the columns: %w", err)
		}
		n += end
		cell = strings.TrimSpace(cell)
		if cell == "" {
			d.columns = append(d.columns, column{})
			continue
		}
		c, ok := m.of(cell)
		if !ok {
			unknown = append(unknown, cell)
		}
		if c.field == fieldIgnored {
			ignored = append(ignored, cell)
		} else if seen[c] {
			return nil, fmt.Errorf("there are two columns of the %s", columnNames[c.field])
		}
		seen[c] = true
		d.columns = append(d.columns, c)
	}
	switch {
	case len(unknown) == len(d.columns):
		return nil, fmt.Errorf("the first line is to name the columns, such as name,target; it has %.100q, none of which is ours or mapped to ours", strings.TrimSpace(text))
	case len(unknown) > 0:
		return nil, fmt.Errorf("the columns %s are not known; map them to ours, or to \"-\" to leave them out", strings.Join(unknown, ", "))
	case !seen[column{field: fieldName}] && !seen[column{field: fieldPrefix}]:
		return nil, errors.New("there is no column of names")
	}
	return ignored, nil
}

// separatorOf returns what separates the columns of a first line.
func separatorOf(text string) byte {
	best, most := byte(','), 0
	for _, separator := range []byte{',', ';', '\t'} {
		if n := strings.Count(text, string(separator)); n > most {
			best, most = separator, n
		}
	}
	return best
}
