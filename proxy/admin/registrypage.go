package admin

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
)

// Bounds of a page of entries. One entry may have a megabyte, so that a thousand are read some at once, and a page ends with the one by which
// it has too many octets.
const (
	entriesAtOnce = 50
	pageOctets    = 8 << 20
)

// entriesUpTo returns the entries that a function reads: at most so many, and fewer where they are large. read returns at most n after the last
// one, which is nil at the beginning. more is whether there are others.
func entriesUpTo(limit int, read func(last *registry.Entry, n int) ([]registry.Entry, error)) (all []registry.Entry, more bool, err error) {
	for octets := 0; ; {
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
			if len(all) == limit || octets > pageOctets {
				return all, true, nil
			}
			all, octets = append(all, page[i]), octets+octetsOf(&page[i])
		}
		if len(page) < n {
			return all, false, nil
		}
	}
}

// octetsOf returns about how many octets an entry has.
func octetsOf(e *registry.Entry) int {
	const others, ofTarget = 500, 100
	n := len(e.Name) + len(e.Metadata) + len(e.Note) + len(e.Reason) + others
	for i := range e.Targets {
		n += len(e.Targets[i].URI) + len(e.Targets[i].Title) + len(e.Targets[i].Note) + ofTarget
	}
	return n
}

var errPageIsFull = errors.New("the page is full")

var errCursor = fmt.Errorf("%w: the cursor is none that a page of this list has named", problem.ErrSelection)

// pageOf returns the parameters of a page: how many entries, and after which one.
func pageOf(given map[string]string) (limit int, after string, err error) {
	limit = defaultPage
	if text, ok := given["limit"]; ok {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxPage {
			return 0, "", fmt.Errorf("%w: limit is a number from 1 to %d", problem.ErrSelection, maxPage)
		}
	}
	octets, err := base64.RawURLEncoding.DecodeString(given["cursor"])
	if err != nil {
		return 0, "", errCursor
	}
	return limit, string(octets), nil
}

// cursorOf returns the cursor of a page that begins after an entry.
func cursorOf(after string) string { return base64.RawURLEncoding.EncodeToString([]byte(after)) }

// pageReply returns a page, with a link to the next one (RFC 8288) where there is one.
func pageReply(c *call, document any, next string) message.Reply {
	return feedReply(c, document, next, next != "")
}
