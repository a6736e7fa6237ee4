package gopher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// attributes fetches the attributes of an item, or of all items of a menu: Gopher+ sections 2.5 and 2.7.
func (h *Handler) attributes(ctx context.Context, r scheme.Request, q request) (*scheme.Resource, error) {
	a, err := h.open(ctx, r, q)
	if err != nil {
		return movedOr(err)
	}
	defer a.end()
	if !a.isPlus {
		return nil, fmt.Errorf("%w: server does not support Gopher+", scheme.ErrInvalidResponse)
	}
	in := h.newLines(a.data)
	items, err := readAttributes(in, h.config.Limits.MaxEntries(q.uri.String()))
	if err != nil {
		return nil, a.wrapError("reading attributes", err)
	}
	l := &scheme.Listing{Kind: scheme.KindDescription, Title: title(q), URI: q.uri.String(), Incomplete: in.incomplete}
	l.Parent = &scheme.Link{Text: l.Title, URI: q.plain()}
	if q.Plus[0] == '$' {
		l.Kind = scheme.KindMenu
		for _, one := range items {
			l.Items = append(l.Items, one.entry())
		}
	} else if len(items) > 0 {
		describe(l, q, items[0])
	}
	resource := scheme.ListingResource(l)
	resource.RemoteAddr = a.from()
	return resource, nil
}

// block is an attribute block: its name, the rest of its first line, and its lines.
type block struct {
	name, head string
	lines      []string
}

// attributes are the blocks of an item; the item itself is from the block +INFO.
type attributes struct {
	item   item
	blocks []block
}

// readAttributes reads the attributes of items. entries limits the number of their lines.
func readAttributes(in *lines, entries int) ([]attributes, error) {
	var items []attributes
	for n := 0; ; n++ {
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			return items, nil
		}
		if err != nil {
			return nil, err
		}
		if n == entries {
			in.incomplete = "only part of the attributes is shown: they exceed the limit"
			return items, nil
		}
		items = addLine(items, line)
	}
}

// addLine adds a line of attributes. A line of a block starts with a space, which some servers omit.
func addLine(items []attributes, line string) []attributes {
	name, found := strings.CutPrefix(line, "+")
	if !found {
		if len(items) == 0 || len(items[len(items)-1].blocks) == 0 || strings.TrimSpace(line) == "" {
			return items
		}
		blocks := items[len(items)-1].blocks
		last := &blocks[len(blocks)-1]
		last.lines = append(last.lines, strings.TrimPrefix(line, " "))
		return items
	}
	name, head, _ := strings.Cut(name, ":")
	name, head = strings.TrimSpace(name), strings.TrimPrefix(head, " ")
	if name == "INFO" {
		i, _ := parseItem(head)
		return append(items, attributes{item: i})
	}
	if len(items) == 0 { // attributes requested by name may come without +INFO
		items = append(items, attributes{})
	}
	last := &items[len(items)-1]
	last.blocks = append(last.blocks, block{name: name, head: head})
	return items
}
