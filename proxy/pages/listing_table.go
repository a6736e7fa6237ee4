package pages

import (
	"html/template"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// table is a listing in columns.
type table struct {
	columns
	Caption                      string
	SortName, SortSize, SortTime template.HTMLAttr // links to the same in another order; "" for none
	CountHead                    string            // above the column of what items contain
	Rows                         template.HTML
}

// columns are those that a table has beside kinds and names: those that an item has a value for.
type columns struct{ Count, Size, Time bool }

func columnsOf(all []scheme.Item) columns {
	var c columns
	for i := range all {
		_, isTimed := momentOf(all[i].Modified)
		c.Count = c.Count || all[i].Count != nil
		c.Size = c.Size || isSized(&all[i])
		c.Time = c.Time || isTimed
	}
	return c
}

func tableOf(l *scheme.Listing, to linker) *table {
	w := to.writer
	t := &table{columns: columnsOf(l.Items), Caption: w.Text("listing.entry_count", "Count", len(l.Items)), CountHead: w.Text("listing.entries")}
	unit := w.Text("listing.unit_entries")
	if l.Kind == scheme.KindGroups {
		t.Caption = w.Text("listing.group_count", "Count", len(l.Items))
		t.CountHead, unit = w.Text("listing.articles"), w.Text("listing.unit_articles")
	}
	if at, isWeb := to.target(l.URI); !isWeb && strings.HasPrefix(at, "/") && len(l.Items) > 1 {
		t.SortName, t.SortSize, t.SortTime = hrefOf(at+"&sort=name"), hrefOf(at+"&sort=size"), hrefOf(at+"&sort=time") // see package message
	}
	m := itemsFor(len(l.Items), to)
	for i := range l.Items {
		m.row(&l.Items[i], t.columns, unit)
	}
	t.Rows = m.html()
	return t
}

// row appends a row of a table. unit is of what it counts, which is shown where its head is not.
func (m *items) row(i *scheme.Item, c columns, unit string) {
	m.tag(`<tr><td class="kind">`)
	m.text(m.to.writer.kind(i.Kind))
	m.tag(`</td><th scope="row">`)
	m.name(i)
	m.note(i)
	m.tag(`</th>`)
	if c.Count {
		m.tag(`<td class="size count">`)
		if i.Count != nil {
			m.count(i)
			m.tag(`<span class="unit"> `)
			m.text(unit)
			m.tag(`</span>`)
		}
		m.tag(`</td>`)
	}
	if c.Size {
		m.tag(`<td class="size">`)
		m.size(i)
		m.tag(`</td>`)
	}
	if c.Time {
		m.tag(`<td class="time">`)
		m.time(i)
		m.tag(`</td>`)
	}
	m.tag("</tr>\n")
}
