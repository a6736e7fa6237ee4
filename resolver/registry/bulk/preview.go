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

// MaxColumns bounds the columns of a table whose columns somebody maps by hand.
const MaxColumns = 200

// Preview is the beginning of a table, for a person who says which of its columns are which of ours. It may be stored as JSON.
type Preview struct {
	Columns []string   // as the table names them
	Rows    [][]string // the first ones after it, which may have more or fewer fields
	// Before is how many bytes come before the names of the columns: empty lines, or "sep=". The names end at End.
	Before, End int
	Separator   byte
}

// PreviewTable returns the beginning of a table that is in memory as a whole, and valid UTF-8, with at most so many rows. The errors wrap
// registry.ErrInvalid.
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
	p.End = min(int(in.Offset()), len(text)) // the last line may have had no end
	if len(p.Columns) > MaxColumns {
		return p, registry.Invalid("file_columns", "", "it has %d columns, and at most %d can be mapped here", len(p.Columns), MaxColumns).
			With("Number", strconv.Itoa(len(p.Columns)))
	}
	for len(p.Rows) < rows {
		row, err := in.Read()
		if err != nil { // at the end, or where the import says what is wrong
			return p, nil //nolint:nilerr // as said
		}
		if row.Err == nil && !row.Empty() {
			p.Rows = append(p.Rows, slices.Clone(row.Cells[:min(len(row.Cells), len(p.Columns))])) // a line may have thousands
		}
	}
	return p, nil
}

// Renamed returns what a table begins with whose columns have other names, which comes before text[end:] of what it was made of, of which it
// needs the first End bytes. "" leaves a column out. isData is that the first line is no names of columns, but a row: then the names are a
// line more.
func (p *Preview) Renamed(columns []string, isData bool, text []byte) (head []byte, end int) {
	var b bytes.Buffer
	b.Write(text[:p.Before])
	w := tabular.NewWriter(&b, p.Separator)
	_ = errors.Join(w.Write(columns...), w.Flush()) // a Buffer takes all
	if isData {
		return b.Bytes(), p.Before
	}
	// The lines of the names stay as many as they were, so that what is said of a line of the file is of that line.
	b.Truncate(b.Len() - 1)
	b.WriteString(strings.Repeat("\n", max(bytes.Count(text[p.Before:p.End], []byte("\n")), 1)))
	return b.Bytes(), p.End
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

// Decode returns a text of an encoding as UTF-8, without its byte order mark. The errors wrap registry.ErrInvalid, and are in words of
// whoever has saved it.
func Decode(text []byte, of charset.Encoding) ([]byte, error) {
	switch {
	case bytes.HasPrefix(text, []byte("PK\x03\x04")), bytes.HasPrefix(text, []byte("\xd0\xcf\x11\xe0")):
		return nil, registry.Invalid("file_workbook", "", "it is a workbook, and no text: save it as CSV, in UTF-8")
	case bytes.HasPrefix(text, magicGzip), bytes.HasPrefix(text, magicZstd):
		return nil, registry.Invalid("file_compressed", "", "it is compressed: unpack it before")
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
