package gopher

import (
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// describe adds the attributes of an item to a listing: its views are links to them, and the questions of
// a form are properties.
func describe(l *scheme.Listing, q request, a attributes) {
	if a.item.name != "" {
		l.Title = scheme.Text(a.item.name)
	}
	for _, b := range a.blocks {
		switch b.name {
		case "VIEWS":
			for _, line := range b.lines {
				if v, ok := parseView(line); ok {
					l.Items = append(l.Items, v.entry(q))
				}
			}
		case "ABSTRACT":
			if text := b.text(); text != "" {
				l.Notes = append(l.Notes, text)
			}
			l.Properties = append(l.Properties, b.reference()...)
		case "ASK":
			l.Properties = append(l.Properties, fields(b.lines)...)
			l.Notes = append(l.Notes, "The server asks these questions before it sends the item. Answers cannot be sent from here.")
		case "ADMIN":
			l.Properties = append(l.Properties, fields(b.lines)...)
		default:
			if text := b.text(); text != "" {
				l.Properties = append(l.Properties, scheme.Property{Name: scheme.Text(b.name), Value: text})
			}
			l.Properties = append(l.Properties, b.reference()...)
		}
	}
}

// text returns the lines of a block as one paragraph.
func (b block) text() string { return scheme.Text(strings.TrimSpace(strings.Join(b.lines, " "))) }

// reference returns the property for what follows the name of a block: the item that has the attribute, or its text.
func (b block) reference() []scheme.Property {
	if strings.TrimSpace(b.head) == "" {
		return nil
	}
	p := scheme.Property{Name: scheme.Text(b.name), Value: scheme.Text(b.head)}
	if i, ok := parseItem(b.head); ok {
		p.Value, p.URI = scheme.Text(i.name), link(i)
	} else if location, err := webLink(b.head); err == nil && b.name == "URL" {
		p.URI = location
	}
	return []scheme.Property{p}
}

// fields returns lines such as "Admin: Frodo" as properties. The choices of a question are separated by
// tabs: Gopher+ section 2.8.
func fields(lines []string) []scheme.Property {
	var properties []scheme.Property
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		if !found {
			name, value = "", line
		}
		value = strings.Join(strings.FieldsFunc(value, func(r rune) bool { return r == '\t' }), " | ")
		properties = append(properties, scheme.Property{
			Name: scheme.Text(strings.TrimSpace(name)), Value: scheme.Text(strings.TrimSpace(value)),
		})
	}
	return properties
}

// entry returns the item with its attributes as one of a listing.
func (a attributes) entry() scheme.Item {
	entry := scheme.Item{Kind: itemKind(a.item.kind), Name: scheme.Text(a.item.name), URI: link(a.item)}
	for _, b := range a.blocks {
		switch b.name {
		case "VIEWS":
			for _, line := range b.lines {
				if v, ok := parseView(line); ok && entry.Type == "" {
					entry.Type = scheme.Text(v.media)
				}
			}
		case "ABSTRACT":
			entry.Note = b.text()
		case "ADMIN":
			for _, p := range fields(b.lines) {
				switch p.Name {
				case "Admin":
					entry.From = p.Value
				case "Mod-Date":
					entry.Modified = parseDate(p.Value)
				}
			}
		case "ASK":
			entry.Kind = scheme.ItemForm
		}
	}
	return entry
}

// view is a representation of an item, "application/postscript De_DE: <100k>": Gopher+ appendix 3.0.
type view struct{ media, language, size string }

func parseView(line string) (view, bool) {
	name, size, _ := strings.Cut(line, ":")
	media, language, _ := strings.Cut(strings.TrimSpace(name), " ")
	if !strings.Contains(media, "/") && !strings.HasSuffix(media, "View") { // such as GView, section 2.6
		return view{}, false
	}
	return view{media, strings.TrimSpace(language), strings.Trim(strings.TrimSpace(size), "<>")}, true
}

// entry returns the view of the item of a request as an item of a listing: RFC 4266 section 2.8. Its size is
// a note, since that is not exact.
func (v view) entry(q request) scheme.Item {
	name := strings.TrimSpace(v.media + " " + v.language)
	entry := scheme.Item{
		Kind: v.kind(), Name: scheme.Text(name), Type: scheme.Text(strings.ToLower(v.media)),
		URI: valid(q.plain() + encodedTab + encodedTab + "+" + escape(name)),
	}
	if v.size != "" {
		entry.Note = "about " + scheme.Text(v.size)
	}
	return entry
}

func (v view) kind() string {
	main, sub, _ := strings.Cut(strings.ToLower(v.media), "/")
	switch {
	case strings.HasPrefix(sub, "gopher"):
		return scheme.ItemDirectory
	case main == "text":
		return scheme.ItemText
	case main == "image":
		return scheme.ItemImage
	case main == "audio":
		return scheme.ItemSound
	case main == "video":
		return scheme.ItemVideo
	default:
		return scheme.ItemFile
	}
}

// parseDate returns the time in a value such as "Wed Jul 28 17:02:01 1993 <19930728170201>", the zero value where it
// has none. It is of the time zone of the server, which is not known: UTC is taken for it.
func parseDate(value string) time.Time {
	_, digits, _ := strings.Cut(value, "<")
	digits, _, _ = strings.Cut(digits, ">")
	at, err := time.Parse("20060102150405", digits)
	if err != nil {
		return time.Time{}
	}
	return at
}
