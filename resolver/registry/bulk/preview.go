package bulk

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/resolver/registry"
)

// MaxColumns bounds the columns of a table that a user maps by hand.
const MaxColumns = 200

// Preview is the beginning of a table, from which a user maps its columns to those of this package. It may be
// stored as JSON.
type Preview struct {
	Columns []string   // the names in the header row
	Rows    [][]string // the first rows after the header; a row may have more or fewer cells than the header
	// Before is the number of bytes before the header row: empty lines, or "sep=". End is the offset of the
	// end of the header row.
	Before, End int
	Separator   byte
}

// PreviewTable returns the beginning of a table, with at most the given number of rows. The text is the
// complete table in valid UTF-8. The errors wrap registry.ErrInvalid.
func PreviewTable(text []byte, format Format, rows int) (Preview, error) {
	var p Preview
	in := tabular.NewReader(bytes.NewReader(text), format.separator())
	header, err := in.Header()
	if err != nil {
		if errors.Is(err, tabular.ErrEmpty) {
			return p, registry.Invalid("file_empty", "", "%w", err)
		}
		return p, registry.Invalid("file_table", "", "%w", err).With("Reason", err.Error())
	}
	p.Separator, p.Columns = in.Separator(), header.Cells
	p.Before = int(in.Offset()) - len(header.Text)
	p.End = min(int(in.Offset()), len(text)) // the last line may lack a line end
	if len(p.Columns) > MaxColumns {
		return p, registry.Invalid("file_columns", "", "%d columns, at most %d can be mapped here", len(p.Columns),
			MaxColumns).
			With("Number", strconv.Itoa(len(p.Columns)))
	}
	for len(p.Rows) < rows {
		row, err := in.Read()
		if err != nil { // io.EOF, or an error that the import will report
			return p, nil //nolint:nilerr // see above
		}
		if row.Err == nil && !row.Empty() {
			// A row may have thousands of cells.
			p.Rows = append(p.Rows, slices.Clone(row.Cells[:min(len(row.Cells), len(p.Columns))]))
		}
	}
	return p, nil
}

// RenameColumns returns a new head of a table whose columns were renamed; text[end:] of the original follows it.
// text has at least the first End bytes. The name "" ignores a column. isData means that the first row is
// data and not a header: then the header is an additional line.
func (p *Preview) RenameColumns(columns []string, isData bool, text []byte) (head []byte, end int) {
	var b bytes.Buffer
	b.Write(text[:p.Before])
	w := tabular.NewWriter(&b, p.Separator)
	_ = errors.Join(w.Write(columns...), w.Flush()) // a Buffer never fails
	if isData {
		return b.Bytes(), p.Before
	}
	// Keep the number of lines in the header, so that line numbers in messages match the original file.
	b.Truncate(b.Len() - 1)
	b.WriteString(strings.Repeat("\n", max(bytes.Count(text[p.Before:p.End], []byte("\n")), 1)))
	return b.Bytes(), p.End
}

// FindColumn returns the canonical name of a column from any of its spellings; "" for an unknown or an
// ignored column.
func FindColumn(name string) string {
	c, ok := columnOf(name)
	if !ok || c.field == fieldIgnored {
		return ""
	}
	return c.String()
}

// MemberColumn returns the column name of a member of the metadata.
func MemberColumn(member string) string { return memberPrefix + strings.TrimSpace(member) }

// Columns returns the names of all columns: those of records, and those of targets. Columns of metadata
// members are not included.
func Columns() (own, ofTargets []string) {
	return slices.Clone(columnNames[fieldName:fieldMember]), slices.Clone(columnNames[fieldURI:])
}

// Decode converts a text to UTF-8 without byte order mark. It rejects workbooks and compressed files. The
// errors wrap registry.ErrInvalid and are worded for the user who saved the file.
func Decode(text []byte, of charset.Encoding) ([]byte, error) {
	switch {
	case bytes.HasPrefix(text, []byte("PK\x03\x04")), bytes.HasPrefix(text, []byte("\xd0\xcf\x11\xe0")):
		return nil, registry.Invalid("file_workbook", "", "spreadsheet instead of text: save it as CSV in UTF-8")
	case bytes.HasPrefix(text, magicGzip), bytes.HasPrefix(text, magicZstd):
		return nil, registry.Invalid("file_compressed", "", "compressed file: decompress it first")
	}
	source, err := of.NewSource(bytes.NewReader(text))
	if err != nil {
		return nil, registry.Invalid("file_mark", "", "%w", err)
	}
	notEncoded := func(line int64, _ string, err error) error {
		return registry.Invalid("file_encoding", "", "line %d: %w", line, err).With("Line", strconv.FormatInt(line, 10))
	}
	var b bytes.Buffer
	b.Grow(len(text))
	if _, err := b.ReadFrom(source.Lines(notEncoded)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
