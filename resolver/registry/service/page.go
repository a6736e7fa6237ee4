package service

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/urnd/urnd/resolver/registry"
)

// The number of items per page.
const (
	defaultPage = 100
	// MaxPage is the maximum number of items per page.
	MaxPage = 1000
)

// Page selects a part of a list.
type Page struct {
	Limit  int    // maximum number of items: 1 to MaxPage; 0 is 100
	Cursor string // Next of the previous page; "" is the first page
	// After is an alternative to Cursor in lists of versions and change sets: the Seq behind which the page
	// starts; 0 is unset.
	After registry.Seq
}

// limit returns the number of items per page.
func (p Page) limit() (int, error) {
	limit := p.Limit
	if limit == 0 {
		limit = defaultPage
	}
	if limit < 1 || limit > MaxPage {
		return 0, fmt.Errorf("%w: limit must be a number from 1 to %d", registry.ErrInvalidParameters, MaxPage)
	}
	return limit, nil
}

// read returns the number of items, and the item behind which the page starts.
func (p Page) read() (limit int, after string, err error) {
	if limit, err = p.limit(); err != nil {
		return 0, "", err
	}
	text, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err != nil {
		return 0, "", registry.ErrInvalidCursor
	}
	return limit, string(text), nil
}

// readSeq returns the number of items, and the Seq behind which the page starts. The error is
// registry.ErrForeignCursor for a cursor of another history.
func (s *Service) readSeq(ctx context.Context, p Page) (limit int, after registry.Seq, err error) {
	if limit, err = p.limit(); err != nil || p.After != 0 {
		return limit, p.After, err
	}
	after, err = s.registry.CursorSeq(ctx, p.Cursor)
	return limit, after, err
}

// cursorOf returns the cursor of the page behind an item.
func cursorOf(after string) string { return base64.RawURLEncoding.EncodeToString([]byte(after)) }

// Limits of a page of entries. A single entry may have a megabyte, so a page is read in batches, and ends with
// the entry that exceeds pageBytes.
const (
	entriesAtOnce = 50
	pageBytes     = 8 << 20
)

// entriesUpTo returns at most limit entries, fewer if they are large. read returns at most n entries behind
// last, which is nil at the start. more reports whether there are further entries.
func entriesUpTo(
	limit int, read func(last *registry.Entry, n int) ([]registry.Entry, error),
) (all []registry.Entry, more bool, err error) {
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

// sizeOf returns the approximate size of an entry in bytes.
func sizeOf(e *registry.Entry) int {
	const others, ofTarget = 500, 100
	n := len(e.Name) + len(e.Metadata) + len(e.Note) + len(e.Reason) + others
	for i := range e.Targets {
		n += len(e.Targets[i].URI) + len(e.Targets[i].Title) + len(e.Targets[i].Note) + ofTarget
	}
	return n
}
