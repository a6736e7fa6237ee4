package service

import (
	"context"
	"encoding/base64"
	"fmt"

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
	Limit  int          // how many items at most: 1 to MaxPage; 0 is 100
	Cursor string       // that a page before has returned; "" begins
	After  registry.Seq // of lists of versions and change sets, the number after which it begins, in place of a cursor; 0 is none
}

// limit returns how many items a page has.
func (p Page) limit() (int, error) {
	limit := p.Limit
	if limit == 0 {
		limit = defaultPage
	}
	if limit < 1 || limit > MaxPage {
		return 0, fmt.Errorf("%w: limit is a number from 1 to %d", registry.ErrSelection, MaxPage)
	}
	return limit, nil
}

// read returns how many items a page has, and after which one.
func (p Page) read() (limit int, after string, err error) {
	if limit, err = p.limit(); err != nil {
		return 0, "", err
	}
	text, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err != nil {
		return 0, "", registry.ErrCursor
	}
	return limit, string(text), nil
}

// readSeq returns how many versions or change sets a page has, and after which number. It is registry.ErrHistory where the cursor is of
// another history.
func (s *Service) readSeq(ctx context.Context, p Page) (limit int, after registry.Seq, err error) {
	if limit, err = p.limit(); err != nil || p.After != 0 {
		return limit, p.After, err
	}
	after, err = s.registry.AfterCursor(ctx, p.Cursor)
	return limit, after, err
}

// cursorOf returns the cursor of a page that begins after an item.
func cursorOf(after string) string { return base64.RawURLEncoding.EncodeToString([]byte(after)) }

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
