package pages

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/scheme"
)

// ListingText returns a listing as plain text for a terminal, without control characters. The links of
// listings other than directories are numbered, and their URIs listed at the end.
func (w Writer) ListingText(l *scheme.Listing) []byte {
	b := textPage{words: w.design.In(English)}
	b.heading(l)
	for _, warning := range l.Warnings {
		b.paragraph("Warning: " + line(warning))
	}
	if l.Incomplete != "" {
		b.paragraph("This is not all: " + line(l.Incomplete))
	}
	for _, note := range l.Notes {
		b.paragraph(lines(note))
	}
	b.properties(l.Properties)
	if l.Search != nil {
		b.paragraph(strings.TrimSuffix(line(l.Search.Label), ":") + ": " + line(l.Search.Prefix) + "WORDS")
	}
	b.items(l)
	b.paragraph(lines(l.Text))
	if l.Kind == scheme.KindArticle && len(l.Items) > 0 {
		b.paragraph("Files:")
		b.menu(l.Items)
	}
	b.links(l)
	return b.Bytes()
}

// heading writes the title and the URI, once if they are equal.
func (b *textPage) heading(l *scheme.Listing) {
	if l.Title == l.URI {
		b.paragraph(line(l.URI))
		return
	}
	b.paragraph(line(l.Title), line(l.URI))
}

// textPage is a text of paragraphs.
type textPage struct {
	bytes.Buffer
	words      Writer
	references []string
}

// paragraph writes the non-empty lines, followed by an empty line.
func (b *textPage) paragraph(all ...string) {
	written := false
	for _, line := range all {
		if line != "" {
			fmt.Fprintln(b, line)
			written = true
		}
	}
	if written {
		fmt.Fprintln(b)
	}
}

// properties writes names and values in two columns.
func (b *textPage) properties(all []scheme.Property) {
	width := 0
	for _, p := range all {
		width = max(width, utf8.RuneCountInString(line(p.Name)))
	}
	rows := make([]string, 0, len(all))
	for _, p := range all {
		rows = append(rows, fmt.Sprintf("%-*s  %s", min(width, maxColumn), line(p.Name), line(p.Value)))
	}
	b.paragraph(rows...)
}

// maxColumn limits the width of a column, in characters.
const maxColumn = 24

func (b *textPage) items(l *scheme.Listing) {
	switch {
	case len(l.Items) == 0:
		b.paragraph(b.words.empty(l))
	case l.Kind == scheme.KindArticle: // its items follow its text
	case l.Kind == scheme.KindDirectory || l.Kind == scheme.KindGroups:
		b.table(l.Items)
	default:
		b.menu(l.Items)
	}
}

// table writes rows in columns, the name last.
func (b *textPage) table(all []scheme.Item) {
	c := columnsOf(all)
	for i := range all {
		item := &all[i]
		fmt.Fprintf(b, "%-8s  ", b.words.kind(item.Kind))
		if c.Count {
			count := ""
			if item.Count != nil {
				count = commas(*item.Count)
			}
			fmt.Fprintf(b, "%9s  ", count)
		}
		if c.Size {
			data := ""
			if isSized(item) {
				data = strconv.FormatInt(*item.Size, 10)
			}
			fmt.Fprintf(b, "%12s  ", data)
		}
		if c.Time {
			changed := ""
			if at, ok := momentOf(item.Modified); ok {
				changed = string(at.appendShort(nil))
			}
			fmt.Fprintf(b, "%-16s  ", changed)
		}
		fmt.Fprintln(b, strings.TrimRight(nameOf(item)+"  "+line(item.Note), " "))
	}
	fmt.Fprintln(b)
}

// menu writes items with their kinds and link numbers, and the lines between them.
func (b *textPage) menu(items []scheme.Item) {
	for i := range items {
		item := &items[i]
		if item.Kind == scheme.ItemInfo && item.URI == "" {
			fmt.Fprintf(b, "%16s%s\n", "", line(item.Name))
			continue
		}
		number := ""
		if item.URI != "" {
			b.references = append(b.references, line(item.URI))
			number = "[" + strconv.Itoa(len(b.references)) + "]"
		}
		indent := strings.Repeat("  ", min(max(item.Depth, 0), maxDepth))
		fmt.Fprintf(b, "%6s %-8s %s%s%s\n", number, b.words.kind(item.Kind), indent, line(item.Name), more(item))
		if item.Note != "" {
			fmt.Fprintf(b, "%16s%s%s\n", "", indent, line(item.Note))
		}
	}
	fmt.Fprintln(b)
}

// more returns the metadata of an item.
func more(i *scheme.Item) string {
	const most = 4
	known := make([]string, 0, most)
	if i.From != "" {
		known = append(known, line(i.From))
	}
	if i.Type != "" {
		known = append(known, line(i.Type))
	}
	if isSized(i) {
		known = append(known, string(appendSize(nil, *i.Size)))
	}
	if at, ok := momentOf(i.Modified); ok {
		known = append(known, string(at.appendShort(nil)))
	}
	if len(known) == 0 {
		return ""
	}
	return " (" + strings.Join(known, ", ") + ")"
}

// links writes the URIs of the navigation, and of the numbered items.
func (b *textPage) links(l *scheme.Listing) {
	for _, part := range []struct {
		word string
		link *scheme.Link
	}{{"Open: ", l.Open}, {"Up: ", l.Parent}, {"Previous: ", l.Previous}, {"Next: ", l.Next}} {
		if part.link != nil {
			fmt.Fprintln(b, part.word+line(part.link.URI))
		}
	}
	for i, reference := range b.references {
		fmt.Fprintf(b, "[%d] %s\n", i+1, reference)
	}
}
