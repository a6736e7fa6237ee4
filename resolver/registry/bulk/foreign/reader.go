// Package foreign parses files of other programs that store identifiers, for package bulk. Input in UTF-8
// enters; an Item leaves for each entry, with a registry entry, its unmapped fields and its error. Each
// format has its own specification, named at its function; identifiers become names by RFC 3986 and RFC 8141.
//
//   - reader.go: the common reader; item.go: the conversion of an entry
//   - record.go, documents.go, table.go: formats of named values, as JSON objects or CSV rows; xml.go: XML
//     formats
//   - a file for each format; webserver.go: the formats of package webserver
package foreign

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/tabular"
)

const (
	// maxItems is the number of entries in a block.
	maxItems = 64
	// maxInvalidLines bounds the invalidly encoded lines that are not assigned to an entry yet.
	maxInvalidLines = 10_000
	// maxShown bounds the text of an entry in messages, in bytes.
	maxShown = 1000
	// maxEntry bounds the input of one entry, in bytes.
	maxEntry = tabular.MaxRecord
	// maxMembers bounds the members of an object.
	maxMembers = 200
	// maxValues bounds the values of an identifier.
	maxValues = 1000
)

// Format starts to read a format. base is prepended to names that are only the end of a URI.
type Format func(in *Input, base string) (Entries, error)

// Entries returns the next entry; io.EOF after the last one. Any other error ends the import.
type Entries func() (*Item, error)

// Input is the input of a format.
type Input struct {
	*charset.Source
	noted []tabular.Row // lines whose bytes are invalid in the encoding
}

// lines returns a reader for formats whose entries are lines. It records lines that are invalid in the
// encoding.
func (in *Input) lines() io.Reader {
	return in.Lines(func(line int64, text string, err error) error {
		if n := len(in.noted); n > 0 && in.noted[n-1].Line == line {
			return nil // a further part of the same line
		}
		if len(in.noted) == maxInvalidLines {
			return fmt.Errorf("line %d: %w, like too many lines before", line, err)
		}
		in.noted = append(in.noted, tabular.Row{Line: line, Text: shown(text), Err: err})
		return nil
	})
}

// strict returns a reader for formats in which a single entry cannot be rejected: an invalid line ends the
// import.
func (in *Input) strict() io.Reader { return in.Lines(lineError) }

// lineError returns the error of a line that ends an import.
func lineError(line int64, _ string, err error) error { return fmt.Errorf("line %d: %w", line, err) }

// isJSON reports whether the input begins with a JSON object, or an array of objects.
func (in *Input) isJSON() bool {
	const spaces = " \t\r\n"
	start, _ := in.Peek(maxShown) // the error recurs at the next read
	text := strings.TrimLeft(string(start), spaces)
	list, isList := strings.CutPrefix(text, "[")
	list = strings.TrimLeft(list, spaces)
	return strings.HasPrefix(text, "{") || isList && (list == "" || list[0] == '{' || list[0] == ']')
}

// Reader reads a format in blocks.
type Reader struct {
	input *Input
	next  Entries
	items []*Item // not returned yet
	ended bool
}

// NewReader returns a reader of a format.
func NewReader(f Format, source *charset.Source, base string) (*Reader, error) {
	r := &Reader{input: &Input{Source: source}}
	var err error
	r.next, err = f(r.input, base)
	return r, err
}

// Next returns the next entries, each with its error if it cannot be imported; io.EOF after the last ones.
func (r *Reader) Next() ([]*Item, error) {
	for len(r.items) < maxItems && !r.ended {
		i, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			r.ended = true
		case err != nil:
			return nil, fmt.Errorf("reading the input: %w", err)
		default:
			r.items = append(r.items, i)
		}
	}
	complete := len(r.items)
	if !r.ended { // following lines may belong to the last entry
		last := r.items[complete-1].Line
		// Otherwise all entries begin in one line.
		if n := slices.IndexFunc(r.items, func(i *Item) bool { return i.Line == last }); n > 0 {
			complete = n
		}
	}
	items := r.rejectNoted(slices.Clone(r.items[:complete]), r.items[complete:])
	r.items = append(r.items[:0], r.items[complete:]...)
	if len(items) == 0 {
		return nil, io.EOF
	}
	for _, i := range items {
		i.finish()
	}
	return items, nil
}

// rejectNoted rejects the entries that contain invalidly encoded lines: such a line belongs to the last entry
// that begins at or before it. A line before the first entry is rejected on its own. Lines of the entries in
// following stay recorded.
func (r *Reader) rejectNoted(items, following []*Item) []*Item {
	for len(r.input.noted) > 0 {
		noted := r.input.noted[0]
		if len(following) > 0 && noted.Line >= following[0].Line {
			return items
		}
		r.input.noted = r.input.noted[1:]
		end := len(items)
		if after := slices.IndexFunc(items, func(i *Item) bool { return i.Line > noted.Line }); after >= 0 {
			end = after
		}
		if end == 0 {
			items = slices.Insert(items, 0, rejected(noted.Line, noted.Text, "%w", noted.Err))
			continue
		}
		for n := end - 1; n >= 0 && items[n].Line == items[end-1].Line; n-- {
			if items[n].Err == nil || errors.Is(items[n].Err, errNotUTF8) { // the less specific error
				items[n].Err = fmt.Errorf("line %d: %w", noted.Line, noted.Err)
			}
		}
	}
	return items
}

// boundedReader reads at most left bytes, so that one entry cannot exhaust the memory.
type boundedReader struct {
	r    io.Reader
	left int
}

var errLong = fmt.Errorf("longer than %d bytes", maxEntry)

// Read implements io.Reader.
func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLong
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
