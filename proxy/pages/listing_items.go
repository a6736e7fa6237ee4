package pages

import (
	"strconv"

	"github.com/urnd/urnd/resolver/scheme"
)

// items are items of a listing as they are shown.
type items struct {
	markup
	to linker
}

// itemsFor has room for n items of a usual length.
func itemsFor(n int, to linker) *items {
	const usual = 320
	return &items{make(markup, 0, usual*n), to}
}

// found appends an item for each of a search, or that comes with an article.
func (m *items) found(all []scheme.Item) {
	for i := range all {
		m.item(&all[i])
	}
}

// item appends an item of a list, with its kind before it.
func (m *items) item(i *scheme.Item) {
	m.tag(`<li><span class="kind">`)
	m.text(m.to.writer.kind(i.Kind))
	m.tag(`</span> <span>`)
	m.name(i)
	m.more(i)
	m.tag("</span></li>\n")
}

// name appends the name of an item, as a link where it may be one.
func (m *items) name(i *scheme.Item) {
	href, isWeb := m.to.target(i.URI)
	if href != "" {
		m.tag(`<a`)
		m.attr("href", href)
		if isWeb {
			m.tag(` rel="noreferrer"`)
		}
		m.tag(`>`)
	}
	m.tag(`<bdi>`)
	m.text(nameOf(i))
	m.tag(`</bdi>`)
	if href != "" {
		m.tag(`</a>`)
	}
}

// nameOf returns the name of an item, which is its URI where it has none.
func nameOf(i *scheme.Item) string {
	if i.Name == "" {
		return line(i.URI)
	}
	return line(i.Name)
}

// more appends what is known of an item besides its name.
func (m *items) more(i *scheme.Item) {
	_, isTimed := momentOf(i.Modified)
	if i.From != "" || i.Type != "" || isSized(i) || isTimed || i.Count != nil {
		m.tag(` <small>`)
		if i.From != "" {
			m.tag(`<bdi>`)
			m.text(line(i.From))
			m.tag(`</bdi> `)
		}
		if i.Type != "" {
			m.tag(`<span>`)
			m.text(line(i.Type))
			m.tag(`</span> `)
		}
		m.size(i)
		m.tag(` `)
		m.time(i)
		if i.Count != nil {
			m.tag(` <span>`)
			m.count(i)
			m.tag(`</span>`)
		}
		m.tag(`</small>`)
	}
	m.note(i)
}

func (m *items) note(i *scheme.Item) {
	if i.Note != "" {
		m.tag(` <span class="note">`)
		m.text(line(i.Note))
		m.tag(`</span>`)
	}
}

// size appends how long an item is, with the exact length for machines, and for who points at it.
func (m *items) size(i *scheme.Item) {
	if !isSized(i) {
		return
	}
	m.tag(`<data value="`)
	m.markup = strconv.AppendInt(m.markup, *i.Size, 10)
	m.tag(`" title="`)
	m.text(m.to.writer.Text("listing.octets", "Number", *i.Size))
	m.tag(`">`)
	m.markup = appendSize(m.markup, *i.Size)
	m.tag(`</data>`)
}

// isSized reports whether it is known how long an item is.
func isSized(i *scheme.Item) bool { return i.Size != nil && *i.Size >= 0 }

// time appends when an item was changed.
func (m *items) time(i *scheme.Item) {
	at, ok := momentOf(i.Modified)
	if !ok {
		return
	}
	m.tag(`<time datetime="`)
	m.markup = at.appendExact(m.markup)
	m.tag(`">`)
	m.markup = at.appendShort(m.markup)
	m.tag(`</time>`)
}

// count appends how much an item contains.
func (m *items) count(i *scheme.Item) { m.text(m.to.writer.Number(*i.Count)) }

// kind returns the word that is shown for a kind of items.
func (w Writer) kind(kind string) string {
	if id := "kind." + kind; w.Has(id) {
		return w.Text(id)
	}
	return w.Text("kind.unknown")
}
