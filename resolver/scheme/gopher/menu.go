package gopher

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// menu fetches a menu, or the results of a search.
func (h *Handler) menu(ctx context.Context, r scheme.Request, q request) (*scheme.Resource, error) {
	a, err := h.open(ctx, r, q)
	if err != nil {
		return movedOr(err)
	}
	defer a.end()
	l := &scheme.Listing{Kind: scheme.KindMenu, Title: title(q), URI: q.uri.String(), Parent: parent(q)}
	if q.Type == typeSearch {
		l.Kind = scheme.KindResults
		l.Search = searchForm(q).Search
	}
	m := menu{Listing: l}
	if err := m.read(h.newLines(a.data), h.config.Limits); err != nil {
		return nil, a.wrapError("reading a menu", err)
	}
	if err := m.refusal(); err != nil {
		return nil, err
	}
	if m.hasPlus {
		l.Properties = append(l.Properties, scheme.Property{
			Name: "Gopher+", Value: "attributes of all items", URI: q.plain() + encodedTab + encodedTab + "$",
		})
	}
	resource := scheme.ListingResource(l)
	resource.RemoteAddr = a.from()
	return resource, nil
}

// menu is a listing under construction from the lines of a menu.
type menu struct {
	*scheme.Listing
	last    byte  // the item type that a redundant server (type +) repeats
	hasPlus bool  // an item has Gopher+ attributes
	fields  bool  // a line has tab-separated fields, as a menu does
	bytes   int64 // estimated bytes of the items in a rendered document
}

// read reads lines up to a single dot or the end.
func (m *menu) read(in *lines, limits scheme.Limits) error {
	for {
		line, err := in.next()
		if errors.Is(err, io.EOF) || line == "." {
			m.Incomplete = in.incomplete
			return nil
		}
		if err != nil {
			return err
		}
		if len(m.Items) == limits.Entries || m.bytes > limits.Bytes {
			m.Incomplete = "only part of the menu is shown: it exceeds the limit of items"
			return nil
		}
		m.add(line)
	}
}

// add adds a line. A line without fields is displayed as text.
func (m *menu) add(line string) {
	i, ok := parseItem(line)
	m.fields = m.fields || ok
	switch {
	case ok && i.kind == typeInfo && i.selector == "TITLE": // of gophernicus and other servers
		m.Title = scheme.DecodeText(strings.TrimSpace(i.name))
	case ok:
		m.addItem(i)
	case strings.TrimSpace(line) != "" && !strings.Contains(line, "\t"):
		m.addItem(item{kind: typeInfo, name: line})
	}
}

func (m *menu) addItem(i item) {
	entry := scheme.Item{Kind: itemKind(i.kind), Name: scheme.DecodeText(i.name)}
	switch {
	case i.kind == typeRedundant && m.last != 0:
		i.kind = m.last
		entry.Kind, entry.Note = itemKind(i.kind), "alternative server of the previous item"
	case i.kind == typeCSO:
		entry.Note = "CSO phone book, requires a CSO client"
	case i.kind != typeInfo && i.kind != typeError:
		m.last = i.kind
	}
	entry.URI = link(i)
	if i.extra == "?" && entry.URI != "" {
		entry.Kind = scheme.ItemForm
	}
	m.hasPlus = m.hasPlus || i.extra == "+" || i.extra == "?"
	m.bytes += entry.RenderedSize()
	m.Items = append(m.Items, entry)
}

// refusal returns the error for a response that is not a menu: a line of type 3 without any item, or a text
// without fields, such as the greeting of a server of another protocol. It is nil for a menu.
func (m *menu) refusal() error {
	if len(m.Items) > 0 && !m.fields && m.Kind == scheme.KindMenu {
		return scheme.UpstreamError(http.StatusBadGateway, m.Items[0].Name)
	}
	failed := ""
	for _, i := range m.Items {
		switch {
		case i.Kind == scheme.ItemError && failed == "":
			failed = i.Name
		case i.Kind != scheme.ItemError && i.Kind != scheme.ItemInfo:
			return nil
		}
	}
	if failed != "" {
		return scheme.UpstreamError(http.StatusNotFound, failed)
	}
	return nil
}

// title returns a title for a listing.
func title(q request) string {
	switch {
	case q.Search != "":
		return scheme.DecodeText(q.Search)
	case strings.Trim(q.Selector, "/") == "":
		return q.host
	default:
		return scheme.DecodeText(q.Selector)
	}
}

// parent returns a link to the root menu of the server: the real parent is unknown, because selectors are
// opaque.
func parent(q request) *scheme.Link {
	root := q.root()
	if root == "" || root == q.uri.String() {
		return nil
	}
	return &scheme.Link{Text: q.host, URI: root}
}
