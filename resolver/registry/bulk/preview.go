package bulk

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/registry"
)

// MaxColumns bounds the columns of a table whose columns somebody maps by hand.
const MaxColumns = 200

// Preview is the beginning of a table, for a person who says which of its columns are which of ours.
type Preview struct {
	Columns []string   // as the table names them
	Rows    [][]string // the first ones after it, which may have more or fewer fields
	// before is how many octets come before the names of the columns: a byte order mark, empty lines, or "sep=". The names end at end.
	before, end int
	separator   byte
}

// PreviewTable returns the beginning of a table that is in memory as a whole, with at most so many rows. The errors wrap registry.ErrInvalid.
func PreviewTable(text []byte, format Format, rows int) (Preview, error) {
	if err := CheckText(text); err != nil {
		return Preview{}, err
	}
	var p Preview
	line := p.begin(text, format)
	if line == "" {
		return p, fmt.Errorf("%w: there is nothing in it: the first line is to name the columns, such as name,target", registry.ErrInvalid)
	}
	in := newRows(string(text[p.before:min(len(text), p.before+2*maxLine)])+"\n", 1, p.separator)
	first, err := in.next()
	switch {
	case err == nil && first.fault != nil:
		err = first.fault
	case errors.Is(err, io.EOF):
		err = errOpen
	}
	if err != nil {
		return p, fmt.Errorf("%w: the names of the columns: %w", registry.ErrInvalid, err)
	}
	p.end = min(p.before+in.end, len(text))
	for _, cell := range first.cells {
		p.Columns = append(p.Columns, strings.TrimSpace(cell))
	}
	if len(p.Columns) > MaxColumns {
		return p, fmt.Errorf("%w: it has %d columns, and at most %d can be mapped here", registry.ErrInvalid, len(p.Columns), MaxColumns)
	}
	for len(p.Rows) < rows {
		next, err := in.next()
		if err != nil { // at the end, or where the import says what is wrong
			return p, nil //nolint:nilerr // as said
		}
		if next.fault == nil && slices.ContainsFunc(next.cells, func(cell string) bool { return cell != "" }) {
			p.Rows = append(p.Rows, slices.Clone(next.cells[:min(len(next.cells), len(p.Columns))])) // a line may have millions
		}
	}
	return p, nil
}

// begin finds where the names of the columns begin, and what separates them. It returns their line, "" where there is none.
func (p *Preview) begin(text []byte, format Format) (line string) {
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		p.before = len(byteOrderMark)
	}
	isSaid := false
	if p.separator = '\t'; format != TSV {
		p.separator = 0
	}
	for {
		octets, _, _ := bytes.Cut(text[p.before:], []byte("\n"))
		line = string(octets[:min(len(octets), maxLine)])
		separator, ok := strings.CutPrefix(strings.TrimRight(line, "\r"), "sep=")
		switch ok = ok && !isSaid && len(separator) == 1 && separator[0] < utf8.RuneSelf; {
		case ok:
			p.separator, isSaid = separator[0], true
		case strings.TrimSpace(line) != "":
			if p.separator == 0 {
				p.separator = separatorOf(line)
			}
			return line
		}
		if p.before += len(octets) + 1; p.before >= len(text) {
			return ""
		}
	}
}

// Renamed returns what a table begins with whose columns have other names, which comes before text[end:] of what it was made of. "" leaves
// a column out. isData is that the first line is no names of columns, but a row: then the names are a line more.
func (p *Preview) Renamed(columns []string, isData bool, text []byte) (head []byte, end int) {
	var b bytes.Buffer
	b.Write(text[:p.before])
	w := csv.NewWriter(&b)
	w.Comma = rune(p.separator)
	_ = w.Write(columns) // a Buffer takes all
	w.Flush()
	if isData {
		return b.Bytes(), p.before
	}
	// The lines of the names stay as many as they were, so that what is said of a line of the file is of that line.
	b.Truncate(b.Len() - 1)
	b.WriteString(strings.Repeat("\n", max(bytes.Count(text[p.before:p.end], []byte("\n")), 1)))
	return b.Bytes(), p.end
}

// ColumnNamed returns which of our columns has a name, in any of its spellings, as an export has it; "" for none, and for what is left out.
func ColumnNamed(name string) string {
	c, ok := columnOf(name)
	if !ok || c.field == fieldIgnored {
		return ""
	}
	return c.String()
}

// MemberColumn returns the name of the column that is a member of the metadata.
func MemberColumn(member string) string { return memberPrefix + strings.TrimSpace(member) }

// Columns returns the names of our columns, those of targets last. Members of the metadata are others.
func Columns() (own, ofTargets []string) {
	return slices.Clone(columnNames[fieldName:fieldMember]), slices.Clone(columnNames[fieldURI:])
}

// CheckText returns an error, which wraps registry.ErrInvalid, for what is no text in UTF-8, in words of whoever has saved it.
func CheckText(text []byte) error {
	var said string
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		said = "it is UTF-16: save it as UTF-8"
	case bytes.HasPrefix(text, []byte("PK\x03\x04")), bytes.HasPrefix(text, []byte("\xd0\xcf\x11\xe0")):
		said = "it is a workbook, and no text: save it as CSV, in UTF-8"
	case bytes.HasPrefix(text, []byte("\x1f\x8b")), bytes.HasPrefix(text, []byte("\x28\xb5\x2f\xfd")):
		said = "it is compressed: unpack it before"
	case bytes.IndexByte(text, 0) >= 0:
		said = fmt.Sprintf("it is no text: line %d has a NUL octet", lineAt(text, bytes.IndexByte(text, 0)))
	case !utf8.Valid(text):
		said = fmt.Sprintf("line %d is not UTF-8, but probably Windows-1252 or ISO 8859-1: save it as UTF-8 (\"CSV UTF-8\" in Excel)", lineAt(text, invalidAt(text)))
	default:
		return nil
	}
	return fmt.Errorf("%w: %s", registry.ErrInvalid, said)
}

func invalidAt(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(text)
}

func lineAt(text []byte, at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }
