package service

import (
	"encoding/base64"
	"fmt"
	"strconv"

	"github.com/urnd/urnd/resolver/registry"
)

// How many items a page has.
const (
	defaultPage = 100
	// MaxPage bounds them.
	MaxPage = 1000
)

// Page is a part of a list.
type Page struct {
	Limit  int    // how many items at most: 1 to MaxPage; 0 is 100
	Cursor string // that a page before has returned; "" begins
}

var errCursor = fmt.Errorf("%w: the cursor is none that a page of this list has named", registry.ErrSelection)

// read returns how many items a page has, and after which one.
func (p Page) read() (limit int, after string, err error) {
	if limit = p.Limit; limit == 0 {
		limit = defaultPage
	}
	if limit < 1 || limit > MaxPage {
		return 0, "", fmt.Errorf("%w: limit is a number from 1 to %d", registry.ErrSelection, MaxPage)
	}
	text, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err != nil {
		return 0, "", errCursor
	}
	return limit, string(text), nil
}

// readSeq is read for a list of versions or change sets: after which number, from least on; 0 begins.
func (p Page) readSeq(least registry.Seq) (limit int, after registry.Seq, err error) {
	limit, text, err := p.read()
	if err != nil || text == "" {
		return limit, 0, err
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if after = registry.Seq(number); err != nil || after < least {
		return 0, 0, errCursor
	}
	return limit, after, nil
}

// cursorOf returns the cursor of a page that begins after an item.
func cursorOf(after string) string { return base64.RawURLEncoding.EncodeToString([]byte(after)) }

// CursorAfter returns the cursor of a page of versions that begins after a number.
func CursorAfter(seq registry.Seq) string { return cursorOf(strconv.FormatInt(int64(seq), 10)) }

// Bounds of a page of entries. One entry may have a megabyte, so a page of a thousand is read in parts, and ends with the entry by which
// it has too many bytes.
const (
	entriesAtOnce = 50
	pageBytes     = 8 << 20
)

// entriesUpTo returns the entries that a function reads: at most so many, and fewer where they are large. read returns at most n after the
// last one, which is nil at the beginning. more is whether there are others.
func entriesUpTo(limit int, read func(last *registry.Entry, n int) ([]registry.Entry, error)) (all []registry.Entry, more bool, err error) {
	for size := 0; ; {
		var last *registry.Entry
		if len(all) > 0 {
			last = &all[len(all)-1]
		}
		n := min(entriesAtOnce, limit+1-len(all))
		page, err := read(last, n)
		if err != nil {
			return nil, false, err
		}
		for i := range page {
			if len(all) == limit || size > pageBytes {
				return all, true, nil
			}
			all, size = append(all, page[i]), size+sizeOf(&page[i])
		}
		if len(page) < n {
			return all, false, nil
		}
	}
}

// sizeOf returns about how many bytes an entry has.
func sizeOf(e *registry.Entry) int {
	const others, ofTarget = 500, 100
	n := len(e.Name) + len(e.Metadata) + len(e.Note) + len(e.Reason) + others
	for i := range e.Targets {
		n += len(e.Targets[i].URI) + len(e.Targets[i].Title) + len(e.Targets[i].Note) + ofTarget
	}
	return n
}
