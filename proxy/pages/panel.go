package pages

import (
	"html/template"
	"strconv"
	"strings"
)

// Panel is a page of the admin interface, whose content another package has rendered.
type Panel struct {
	// Writer selects the language; the zero value is English.
	Writer Writer
	// Address is the path and query of the page, without a language parameter; "" for the response to a form,
	// which has no links to translations.
	Address string
	Title   string
	Path    string // of the page
	// Nav are the pages in the navigation, and Crumbs the pages above this one, the top one first.
	Nav, Crumbs []Item
	Account     *Account // nil without a session
	Content     Content  // after the heading, which is Title
	// Outcome is the outcome of the previous form, and Error its error, both above the content; "" for none.
	Outcome, Error Content
	// Script is the path of a script of this server, "" for none. The page is complete without it.
	Script string
	// Reload is the interval in seconds at which a browser without scripts reloads the page; 0 for never. The
	// header field Refresh would also reload it for readers with scripts or a screen reader (WCAG 2.2,
	// success criterion 2.2.2).
	Reload int
	Sheet  Sheet
}

// Sheet is the style sheet of a Panel.
type Sheet int

// Style sheets of forms, and of tables for operators.
const (
	Forms Sheet = iota
	Tables
)

// Item is a link to a page of the same server.
type Item struct{ Label, Path string }

// Account is the user of a session.
type Account struct {
	Name   string
	Logout string // path to which the logout form is posted
	Field  Field
}

// Field is the hidden field with the CSRF token of a form.
type Field struct{ Name, Value string }

// HTML returns the input element.
func (f Field) HTML() template.HTML {
	return template.HTML(`<input type="hidden" name="` + template.HTMLEscapeString(f.Name) + //nolint:gosec // escaped
		`" value="` + template.HTMLEscapeString(f.Value) + `">`)
}

// Panel returns a page of the admin interface.
func (d *Design) Panel(p *Panel) Page {
	w, s := d.In(p.Writer.language), &d.panels[p.Sheet]
	if p.Script != "" {
		s = &d.livePanels[p.Sheet]
	}
	frame := w.frame(p.Title, elsewhere, "")
	frame.Head, frame.Account = s.element, p.Account
	const longest = 400 // bytes, which the link to each language repeats
	if p.Address != "" && len(p.Address) <= longest {
		and := "?"
		if strings.Contains(p.Address, "?") {
			and = "&"
		}
		frame.Languages = w.inLanguages(func(parameter string) string { return p.Address + and + parameter })
	}
	if p.Reload > 0 {
		frame.Head += template.HTML(`<noscript><meta http-equiv="refresh" content="` + //nolint:gosec // a number
			strconv.Itoa(p.Reload) + `"></noscript>`)
	}
	for _, item := range p.Nav {
		frame.Nav = append(frame.Nav, w.entry(item.Label, item.Path, p.Path))
	}
	for _, item := range p.Crumbs {
		frame.Crumbs = append(frame.Crumbs, w.entry(item.Label, item.Path, ""))
	}
	return w.execute("panel.html", s, struct {
		Frame
		Heading, Script         string
		Content, Outcome, Error template.HTML
	}{frame, p.Title, p.Script, p.Content, p.Outcome, p.Error})
}
