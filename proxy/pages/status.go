package pages

import "html/template"

// State is the state of urnd on its page.
type State struct {
	Version  string // of urnd
	Severity Severity
	Verdict  string   // in one sentence
	Reasons  []string // for it
	Figures  []Figure
	Tables   []Table
}

// Severity is how urgent it is to look at something.
type Severity string

// The severities: the zero value says nothing.
const (
	OK       Severity = "ok"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Figure is a figure with its course.
type Figure struct {
	ID       string // of its element, as that of a Table
	Name     string
	Text     string
	Note     string
	Severity Severity
	// Line are the points of its course, at most CourseWidth to the right and CourseHeight down, as SVG has them; "" for none.
	Line string
}

// The size of the course of a figure.
const (
	CourseWidth  = 90
	CourseHeight = 24
)

// Table is one of a page of the state of urnd.
type Table struct {
	ID      string // of the element with its rows, by which a script finds it: a word of letters
	Heading string
	Columns []string
	Rows    []Row
}

// Row is one of a Table.
type Row struct {
	Severity Severity
	Cells    []string // the first one names it
}

// Status returns the page of the state of urnd, with paths as those of Index. It is complete without its script, which may replace what
// State has, and what the element "live" says.
func (d *Design) Status(p *Panel, state State, paths [][2]string) Page {
	w := d.In(English)
	return w.execute("status.html", &d.liveStates, struct {
		tablePage
		State
		Self, Script  template.HTMLAttr
		Width, Height int
		Shown         []shownTable
	}{
		tablePage{Frame: w.panelFrame(p, &d.liveStates), Heading: p.Title, Rows: rowsOfPaths(paths)},
		state, hrefOf(p.Path), template.HTMLAttr(`src="` + template.HTMLEscapeString(p.Script) + `"`), //nolint:gosec // escaped
		CourseWidth, CourseHeight, shown(state.Tables),
	})
}

// Tables returns a page of tables for operators.
func (d *Design) Tables(p *Panel, introduction string, tables []Table) Page {
	w := d.In(English)
	return w.execute("tables.html", &d.states, struct {
		Frame
		Heading, Introduction string
		Shown                 []shownTable
	}{w.panelFrame(p, &d.states), p.Title, introduction, shown(tables)})
}

// Size returns about how many octets a row takes in a page.
func (r Row) Size() int {
	const around, ofRow = 50, 30
	n := ofRow
	for _, text := range r.Cells {
		n += around + escapedLength(text)
	}
	return n
}

// shownTable is a Table as the template has it.
type shownTable struct {
	ID, Heading string
	Columns     []string
	Rows        []shownRow
}

type shownRow struct {
	Severity Severity
	Name     string
	Rest     []shownCell
	Span     int // columns of a row that has its name alone
}

// shownCell has the heading of its column, for where there is no room for columns.
type shownCell struct{ Of, Text string }

func shown(tables []Table) []shownTable {
	all := make([]shownTable, 0, len(tables))
	for _, t := range tables {
		made := shownTable{ID: t.ID, Heading: t.Heading, Columns: t.Columns}
		for _, r := range t.Rows {
			row := shownRow{Severity: r.Severity}
			for i, text := range r.Cells {
				switch {
				case i == 0:
					row.Name = text
				case i < len(t.Columns):
					row.Rest = append(row.Rest, shownCell{t.Columns[i], text})
				}
			}
			if len(r.Cells) == 1 {
				row.Span = len(t.Columns)
			}
			made.Rows = append(made.Rows, row)
		}
		all = append(all, made)
	}
	return all
}

// escapedLength returns the octets of a text in a page.
func escapedLength(text string) int {
	const more = 4 // of "&#34;" and the like
	n := len(text)
	for i := range len(text) {
		switch text[i] {
		case '<', '>', '&', '"', '\'', '+', 0:
			n += more
		}
	}
	return n
}
