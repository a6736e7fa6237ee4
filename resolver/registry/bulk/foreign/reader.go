// Package foreign reads the formats of other programs that have identifiers: what each of their entries says of a name.
//
//   - reader.go: what is common to all formats; item.go: what is made of an entry
//   - record.go, documents.go, table.go: formats of named values, which are objects of JSON or rows of CSV; xml.go: those of XML
//   - a file a format; webserver.go: those of package webserver
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
	// maxItems is how many entries are a block.
	maxItems = 64
	// maxNoted bounds the lines that are not valid in the encoding, and belong to no entry yet.
	maxNoted = 10_000
	// maxShown is how much is shown of an entry, in bytes.
	maxShown = 1000
	// maxEntry bounds what is read of an entry, in bytes.
	maxEntry = tabular.MaxRecord
	// maxMembers bounds the members of an object.
	maxMembers = 200
	// maxValues bounds the values of an identifier.
	maxValues = 1000
)

// Format begins to read a format. Names of it begin with base, where they are only the end of a URI.
type Format func(in *Input, base string) (Entries, error)

// Entries returns the next entry; io.EOF after the last one. Another error ends the import.
type Entries func() (*Item, error)

// Input is what a format reads.
type Input struct {
	*charset.Source
	noted []tabular.Row // lines whose bytes are not valid in the encoding
}

// lines reads input in which entries have lines: those that are not valid in the encoding are noted.
func (in *Input) lines() io.Reader {
	return in.Lines(func(line int64, text string, err error) error {
		if n := len(in.noted); n > 0 && in.noted[n-1].Line == line {
			return nil // a further part of it
		}
		if len(in.noted) == maxNoted {
			return fmt.Errorf("line %d: %w, as too many lines before it", line, err)
		}
		in.noted = append(in.noted, tabular.Row{Line: line, Text: shown(text), Err: err})
		return nil
	})
}

// strict reads input in which an entry cannot be rejected alone.
func (in *Input) strict() io.Reader { return in.Lines(lineError) }

// lineError is the error of a line that ends an import.
func lineError(line int64, _ string, err error) error { return fmt.Errorf("line %d: %w", line, err) }

// isJSON reports whether the input begins as JSON objects, and lists of them, do.
func (in *Input) isJSON() bool {
	const spaces = " \t\r\n"
	start, _ := in.Peek(maxShown) // an error comes again
	text := strings.TrimLeft(string(start), spaces)
	list, isList := strings.CutPrefix(text, "[")
	list = strings.TrimLeft(list, spaces)
	return strings.HasPrefix(text, "{") || isList && (list == "" || list[0] == '{' || list[0] == ']')
}

// Reader gives a format in blocks.
type Reader struct {
	input *Input
	next  Entries
	items []*Item // that are in no block yet
	ended bool
}

// NewReader returns what reads a format.
func NewReader(f Format, source *charset.Source, base string) (*Reader, error) {
	r := &Reader{input: &Input{Source: source}}
	var err error
	r.next, err = f(r.input, base)
	return r, err
}

// Next returns the next entries, with what cannot be imported of each as its error; io.EOF after the last ones.
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
	if !r.ended { // lines that follow may belong to the last one
		last := r.items[complete-1].Line
		if n := slices.IndexFunc(r.items, func(i *Item) bool { return i.Line == last }); n > 0 { // else all are of one line
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

// rejectNoted rejects the entries that noted lines belong to, which are those that begin last before them. Others are rejected alone.
// What follows are the entries after those, of which the lines stay noted.
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
			if items[n].Err == nil || errors.Is(items[n].Err, errNotUTF8) { // which says less
				items[n].Err = fmt.Errorf("line %d: %w", noted.Line, noted.Err)
			}
		}
	}
	return items
}

// boundedReader reads at most left bytes, so that one entry of the input cannot take all memory.
type boundedReader struct {
	r    io.Reader
	left int
}

var errLong = fmt.Errorf("it has more than %d bytes", maxEntry)

// Read implements io.Reader.
func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLong
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
