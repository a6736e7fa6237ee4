package pages

import "html/template"

// Table is one of a page of the state of urnd.
type Table struct {
	ID      string // of the element with its rows, by which a script finds it: a word of letters
	Heading string
	Columns []string
	Rows    [][]string // the first cell of each names it
}

// Status returns a page of the state of urnd, in English: what it is about, tables and paths as those of Index. It is at the path
// self, and complete without the script at another one, which may replace what the tables have, and what the element "live" says.
// Its policy allows scripts of this server and connections to it.
func (d *Design) Status(title, self, script string, tables []Table, paths [][2]string) Page {
	w := d.In(English)
	frame := w.frame(title, elsewhere, "")
	frame.Head = d.status.element
	return w.execute("status.html", &d.status, struct {
		tablePage
		Self, Script template.HTMLAttr
		Tables       []Table
	}{
		tablePage{Frame: frame, Heading: title, Rows: rowsOfPaths(paths)},
		hrefOf(self), template.HTMLAttr(`src="` + template.HTMLEscapeString(script) + `"`), tables, //nolint:gosec // escaped
	})
}
