package pages

import (
	"html/template"
	"strconv"
	"strings"
)

// Panel is a page of the admin interface, whose content another package has made.
type Panel struct {
	// In makes the page in a language; the zero value is English.
	In Writer
	// Address is the path and query of the page, without that of a language; "" for one that was made of a form: it is in no other language.
	Address string
	Title   string
	Path    string // of the page
	// Nav are the pages to which all lead, and Above those above this one, the first one the highest.
	Nav, Above []Item
	Account    *Account // nil: nobody has logged in
	Content    Content  // behind the heading, which is Title
	// Done is what was done before, and Fault what was not: above the content, "" for nothing.
	Done, Fault Content
	// Script is the path of a script of this server, "" for none. The page is complete without it.
	Script string
	// Reload is after how many seconds a browser without scripts loads the page again; 0 for never. A refresh by a field of the response
	// would load it again below the hands of those who have a script, and of those who read it aloud (WCAG 2.2, success criterion 2.2.2).
	Reload int
	Sheet  Sheet
}

// Sheet is the style of a Panel.
type Sheet int

// The styles: that of forms, and that of tables for operators.
const (
	Forms Sheet = iota
	Tables
)

// Item leads to a page of the same server.
type Item struct{ Word, Path string }

// Account is who has logged in.
type Account struct {
	Name   string
	Logout string // the path to which a form is sent that ends the session
	Field  Field
}

// Field is the hidden field by which a form is known to be of this server.
type Field struct{ Name, Value string }

// HTML returns the element.
func (f Field) HTML() template.HTML {
	return template.HTML(`<input type="hidden" name="` + template.HTMLEscapeString(f.Name) + //nolint:gosec // escaped
		`" value="` + template.HTMLEscapeString(f.Value) + `">`)
}

// Panel returns a page of the admin interface.
func (d *Design) Panel(p *Panel) Page {
	w, s := d.In(p.In.language), &d.panels[p.Sheet]
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
		frame.Head += template.HTML(`<noscript><meta http-equiv="refresh" content="` + strconv.Itoa(p.Reload) + `"></noscript>`) //nolint:gosec // a number
	}
	for _, item := range p.Nav {
		frame.Nav = append(frame.Nav, w.entry(item.Word, item.Path, p.Path))
	}
	for _, item := range p.Above {
		frame.Crumbs = append(frame.Crumbs, w.entry(item.Word, item.Path, ""))
	}
	return w.execute("panel.html", s, struct {
		Frame
		Heading, Script      string
		Content, Done, Fault template.HTML
	}{frame, p.Title, p.Script, p.Content, p.Done, p.Fault})
}
