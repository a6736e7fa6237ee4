package pages

import (
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/urnd/urnd/resolver/scheme"
)

// items renders the items of a listing.
type items struct {
	markup
	to linker
}

// itemsFor returns items with capacity for n items of typical length.
func itemsFor(n int, to linker) *items {
	const usual = 320
	return &items{make(markup, 0, usual*n), to}
}

// found appends the results of a search, or the items of an article.
func (m *items) found(all []scheme.Item) {
	for i := range all {
		m.item(&all[i])
	}
}

// item appends a list item, with its kind in front.
func (m *items) item(i *scheme.Item) {
	m.tag(`<li><span class="kind">`)
	m.text(m.to.writer.kind(i.Kind))
	m.tag(`</span> <span>`)
	m.name(i)
	m.more(i)
	m.tag("</span></li>\n")
}

// name appends the name of an item, as a link if its URI is safe.
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

// nameOf returns the name of an item, by default its URI.
func nameOf(i *scheme.Item) string {
	if i.Name == "" {
		return line(i.URI)
	}
	return line(i.Name)
}

// more appends the metadata of an item.
func (m *items) more(i *scheme.Item) {
	_, timed := momentOf(i.Modified)
	if i.From != "" || i.Type != "" || isSized(i) || timed || i.Count != nil {
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

// size appends the size of an item, with the exact number of bytes in the attributes value and title.
func (m *items) size(i *scheme.Item) {
	if !isSized(i) {
		return
	}
	m.tag(`<data value="`)
	m.markup = strconv.AppendInt(m.markup, *i.Size, 10)
	m.tag(`" title="`)
	m.text(m.to.writer.Text("listing.bytes", "Number", *i.Size))
	m.tag(`">`)
	m.markup = appendSize(m.markup, *i.Size)
	m.tag(`</data>`)
}

// isSized reports whether the size of an item is known.
func isSized(i *scheme.Item) bool { return i.Size != nil && *i.Size >= 0 }

// time appends the modification time of an item.
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

// count appends the number of elements in an item.
func (m *items) count(i *scheme.Item) { m.text(m.to.writer.Number(*i.Count)) }

// kind returns the text for a kind of items.
func (w Writer) kind(kind string) string {
	if id := "kind." + kind; w.Has(id) {
		return w.Text(id)
	}
	return w.Text("kind.unknown")
}

// table is a listing as a table.
type table struct {
	columns
	Caption                      string
	SortName, SortSize, SortTime template.HTMLAttr // links that sort by another column; "" for none
	CountHead                    string            // head of the column Count
	Rows                         template.HTML
}

// columns are the optional columns of a table: those with a value in at least one item.
type columns struct{ Count, Size, Time bool }

func columnsOf(all []scheme.Item) columns {
	var c columns
	for i := range all {
		_, timed := momentOf(all[i].Modified)
		c.Count = c.Count || all[i].Count != nil
		c.Size = c.Size || isSized(&all[i])
		c.Time = c.Time || timed
	}
	return c
}

func tableOf(l *scheme.Listing, to linker) *table {
	w := to.writer
	t := &table{
		columns: columnsOf(l.Items), Caption: w.Text("listing.entry_count", "Count", len(l.Items)),
		CountHead: w.Text("listing.entries"),
	}
	unit := w.Text("listing.unit_entries")
	if l.Kind == scheme.KindGroups {
		t.Caption = w.Text("listing.group_count", "Count", len(l.Items))
		t.CountHead, unit = w.Text("listing.articles"), w.Text("listing.unit_articles")
	}
	if at, isWeb := to.target(l.URI); !isWeb && strings.HasPrefix(at, "/") && len(l.Items) > 1 {
		// See package message.
		t.SortName, t.SortSize, t.SortTime = hrefOf(at+"&sort=name"), hrefOf(at+"&sort=size"), hrefOf(at+"&sort=time")
	}
	m := itemsFor(len(l.Items), to)
	for i := range l.Items {
		m.row(&l.Items[i], t.columns, unit)
	}
	t.Rows = m.html()
	return t
}

// row appends a table row. unit is the unit of Count, shown where the column head is hidden.
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

// menu appends the items of a menu; consecutive lines of text are joined.
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
	m.tag(">\n") // HTML ignores this line end, but not an empty first line
	m.text(joined)
	m.tag("</pre></li>\n")
}

// isDrawing reports whether a text is probably a drawing of characters, whose lines must not be wrapped: less
// than half of it is letters and digits.
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

// maxDepth limits the nesting of a thread: deeper articles are shown at this depth.
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

// ends closes n lists, each with its last item.
func (m *items) ends(n int) {
	for range n {
		m.tag("</li></ul>\n")
	}
}

// appendSize appends a number of bytes in a decimal unit, with two significant digits at least: "734 kB",
// "1.2 MB".
func appendSize(b []byte, size int64) []byte {
	units := [...]string{" B", " kB", " MB", " GB", " TB", " PB", " EB"}
	n, unit := float64(size), 0
	for ; n >= 999.5; n /= 1000 { // it would be shown as 1000
		unit++
	}
	digits := 0
	if unit > 0 && n < 9.95 { // otherwise it is shown as 10
		digits = 1
	}
	return append(strconv.AppendFloat(b, n, 'f', digits, 64), units[unit]...)
}

// commas formats a number with a comma between groups of three digits.
func commas(n int64) string { return string(appendCommas(nil, n)) }

// appendCommas appends a number with a comma between groups of three digits.
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

// moment is a time in UTC for display: to the minute, or a day if it is midnight, as servers send that give no
// time of day.
type moment struct {
	time  time.Time
	isDay bool
}

// lastYear is the last year of RFC 3339.
const lastYear = 9999

// momentOf returns a time for display, and false if it is unknown.
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
