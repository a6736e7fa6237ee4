package gopher

import (
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// describe adds the attributes of an item to a listing: its views as links, the questions of a form as
// properties.
func describe(l *scheme.Listing, q request, a attributes) {
	if a.item.name != "" {
		l.Title = scheme.DecodeText(a.item.name)
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
			l.Notes = append(l.Notes,
				"The server requires answers to these questions before it sends the item. This page cannot send them.")
		case "ADMIN":
			l.Properties = append(l.Properties, fields(b.lines)...)
		default:
			if text := b.text(); text != "" {
				l.Properties = append(l.Properties, scheme.Property{Name: scheme.DecodeText(b.name), Value: text})
			}
			l.Properties = append(l.Properties, b.reference()...)
		}
	}
}

// text returns the lines of a block as a paragraph.
func (b block) text() string { return scheme.DecodeText(strings.TrimSpace(strings.Join(b.lines, " "))) }

// reference returns the property for the rest of the first line of a block: the item that has the attribute, or
// text.
func (b block) reference() []scheme.Property {
	if strings.TrimSpace(b.head) == "" {
		return nil
	}
	p := scheme.Property{Name: scheme.DecodeText(b.name), Value: scheme.DecodeText(b.head)}
	if i, ok := parseItem(b.head); ok {
		p.Value, p.URI = scheme.DecodeText(i.name), link(i)
	} else if b.name == "URL" { // of pygopherd
		location, err := webLink(b.head)
		if err != nil {
			return nil // it may contain a password
		}
		p.Value, p.URI = location, location
	}
	return []scheme.Property{p}
}

// fields returns lines such as "Admin: Frodo" as properties. Tabs separate the choices of a question: Gopher+
// section 2.8.
func fields(lines []string) []scheme.Property {
	var properties []scheme.Property
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		if !found {
			name, value = "", line
		}
		value = strings.Join(strings.FieldsFunc(value, func(r rune) bool { return r == '\t' }), " | ")
		properties = append(properties, scheme.Property{
			Name: scheme.DecodeText(strings.TrimSpace(name)), Value: scheme.DecodeText(strings.TrimSpace(value)),
		})
	}
	return properties
}

// entry returns the item with its attributes as an item of a listing.
func (a attributes) entry() scheme.Item {
	entry := scheme.Item{Kind: itemKind(a.item.kind), Name: scheme.DecodeText(a.item.name), URI: link(a.item)}
	for _, b := range a.blocks {
		switch b.name {
		case "VIEWS":
			for _, line := range b.lines {
				if v, ok := parseView(line); ok && entry.Type == "" {
					entry.Type = v.mediaType()
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

// parseDate parses a value such as "Wed Jul 28 17:02:01 1993 <19930728170201>"; the zero value if it has no
// time. The time zone is that of the server, which is unknown, so UTC is assumed.
func parseDate(value string) time.Time {
	_, digits, _ := strings.Cut(value, "<")
	digits, _, _ = strings.Cut(digits, ">")
	at, err := time.Parse("20060102150405", digits)
	if err != nil {
		return time.Time{}
	}
	return at
}
