package bulk

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urnd/urnd/internal/charset"
)

// maxItems is how many entries of a foreign format are a block.
const maxItems = 64

// maxNoted bounds the lines that are not valid in the encoding, and belong to no entry yet.
const maxNoted = 10_000

// translation gives a foreign format in blocks.
type translation struct {
	source *charset.Source
	from   foreign
	noted  []notedLine
	items  []*item // that are in no block yet
	ended  bool
}

// notedLine is a line whose bytes are not valid in the encoding.
type notedLine struct {
	number int64
	text   string // the beginning of it
	fault  error
}

// newTranslation returns what reads a foreign format.
func newTranslation(format Format, source *charset.Source, base string) (*translation, error) {
	t := &translation{source: source}
	var err error
	t.from, err = t.openForeign(format, base)
	return t, err
}

// noteLine notes a line whose entry is to be rejected.
func (t *translation) noteLine(number int64, text string, fault error) error {
	if n := len(t.noted); n > 0 && t.noted[n-1].number == number {
		return nil // a further part of it
	}
	if len(t.noted) == maxNoted {
		return fmt.Errorf("line %d: %w, as too many lines before it", number, fault)
	}
	t.noted = append(t.noted, notedLine{number, trimLine(text[:min(len(text), shown)]), fault})
	return nil
}

// next implements format.
func (t *translation) next() (block, error) {
	for len(t.items) < maxItems && !t.ended {
		i, err := t.from.next()
		var bad *rejectedEntry
		switch {
		case errors.Is(err, io.EOF):
			t.ended = true
		case errors.As(err, &bad):
			t.items = append(t.items, rejected(bad.number, bad.text, "%w", cmp.Or(t.source.Check(bad.text), bad.fault)))
		case err != nil:
			return block{}, fmt.Errorf("reading the input: %w", err)
		default:
			t.items = append(t.items, i)
		}
	}
	complete := len(t.items)
	if !t.ended { // lines that follow may belong to the last one
		last := t.items[complete-1].number
		complete = slices.IndexFunc(t.items, func(i *item) bool { return i.number == last })
	}
	if complete == 0 && !t.ended { // all are of one line
		complete = len(t.items)
	}
	b := block{items: t.rejectNoted(slices.Clone(t.items[:complete]), t.items[complete:])}
	t.items = append(t.items[:0], t.items[complete:]...)
	if len(b.items) == 0 {
		return block{}, io.EOF
	}
	return b, nil
}

// rejectNoted rejects the entries that noted lines belong to, which are those that begin last before them. Others are rejected alone.
// What follows are the entries after those, of which the lines stay noted.
func (t *translation) rejectNoted(items, following []*item) []*item {
	for len(t.noted) > 0 {
		noted := t.noted[0]
		if len(following) > 0 && noted.number >= following[0].number {
			return items
		}
		t.noted = t.noted[1:]
		end := len(items)
		if after := slices.IndexFunc(items, func(i *item) bool { return i.number > noted.number }); after >= 0 {
			end = after
		}
		if end == 0 {
			items = slices.Insert(items, 0, rejected(noted.number, noted.text, "%w", noted.fault))
			continue
		}
		for n := end - 1; n >= 0 && items[n].number == items[end-1].number; n-- {
			if items[n].fault == nil || errors.Is(items[n].fault, errNotUTF8) { // which says less
				items[n].fault = fmt.Errorf("line %d: %w", noted.number, noted.fault)
			}
		}
	}
	return items
}

// lines implements format.
func (*translation) lines(b block, take func(l *line, input string, fault error)) {
	for _, i := range b.items {
		i.done()
		take(&i.line, i.input, i.fault)
	}
}
