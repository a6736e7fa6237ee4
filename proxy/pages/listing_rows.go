package pages

import (
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode"

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

// menu appends the items of a menu, in which lines of text that follow each other are one.
func (m *items) menu(all []scheme.Item) {
	var between []string
	for i := range all {
		if all[i].Kind == scheme.ItemInfo && all[i].URI == "" {
			between = append(between, line(all[i].Name))
			continue
		}
		m.between(between)
		between = between[:0]
		m.item(&all[i])
	}
	m.between(between)
}

// between appends lines of text between items.
func (m *items) between(all []string) {
	joined := strings.Join(all, "\n")
	if strings.TrimSpace(joined) == "" {
		return
	}
	m.tag(`<li class="text"><pre dir="auto"`)
	if isDrawing(joined) {
		m.tag(` class="drawing" tabindex="0"`)
	}
	m.tag(">\n") // which is no part of the text: a first line that is empty is
	m.text(joined)
	m.tag("</pre></li>\n")
}

// isDrawing reports whether a text is more likely a picture made of characters, whose lines must not be
// broken, than words: less than half of it is letters and digits.
func isDrawing(s string) bool {
	words, all := 0, 0
	for _, r := range s {
		if unicode.IsSpace(r) {
			continue
		}
		all++
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			words++
		}
	}
	return 2*words < all
}

// maxDepth bounds how deep articles are shown in a thread: deeper ones are at this depth.
const maxDepth = 8

// thread appends articles in nested lists.
func (m *items) thread(all []scheme.Item) {
	depth := 0
	for i := range all {
		at := min(max(all[i].Depth, 0), maxDepth)
		switch {
		case i == 0:
			at = 0
		case at > depth:
			at = depth + 1
			m.tag("\n<ul>\n")
		default:
			m.ends(depth - at)
			m.tag("</li>\n")
		}
		depth = at
		m.tag(`<li>`)
		m.name(&all[i])
		m.more(&all[i])
	}
	m.ends(depth)
	m.tag("</li>\n")
}

// ends appends the ends of n lists, each with that of its last item.
func (m *items) ends(n int) {
	for range n {
		m.tag("</li></ul>\n")
	}
}

// appendSize appends a number of octets in a unit of the SI, with two digits at least: "734 kB", "1.2 MB".
func appendSize(b []byte, octets int64) []byte {
	units := [...]string{" B", " kB", " MB", " GB", " TB", " PB", " EB"}
	n, unit := float64(octets), 0
	for ; n >= 999.5; n /= 1000 { // which is shown as 1000
		unit++
	}
	digits := 0
	if unit > 0 && n < 9.95 { // which is shown as 10
		digits = 1
	}
	return append(strconv.AppendFloat(b, n, 'f', digits, 64), units[unit]...)
}

// commas returns a number with a comma before each three digits.
func commas(n int64) string { return string(appendCommas(nil, n)) }

// appendCommas appends a number with a comma before each three digits.
func appendCommas(b []byte, n int64) []byte {
	const most = len("-9223372036854775808")
	var room [most]byte
	digits := strconv.AppendInt(room[:0], n, 10)
	if n < 0 {
		b, digits = append(b, '-'), digits[1:]
	}
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b = append(b, ',')
		}
		b = append(b, digit)
	}
	return b
}

// moment is a time in UTC as it is shown: to the minute, or the day where its server says no more.
type moment struct {
	time  time.Time
	isDay bool
}

// lastYear is the last one that RFC 3339 has.
const lastYear = 9999

// momentOf returns a time as it is shown, and false where it is not known.
func momentOf(t time.Time) (moment, bool) {
	t = t.UTC()
	if t.IsZero() || t.Year() < 1 || t.Year() > lastYear {
		return moment{}, false
	}
	return moment{t, t.Equal(t.Truncate(24 * time.Hour))}, true
}

// appendExact appends the time for machines: RFC 3339.
func (m moment) appendExact(b []byte) []byte {
	if m.isDay {
		return m.time.AppendFormat(b, time.DateOnly)
	}
	return m.time.AppendFormat(b, time.RFC3339)
}

// appendShort appends the time for people.
func (m moment) appendShort(b []byte) []byte {
	if m.isDay {
		return m.time.AppendFormat(b, time.DateOnly)
	}
	const minutes, between = len("2006-01-02T15:04"), len(time.DateOnly)
	end := len(b)
	b = m.appendExact(b)[:end+minutes]
	b[end+between] = ' '
	return b
}
