package admin

import "github.com/urnd/urnd/proxy/pages"

// live is the state of urnd as an event has it: the words of pages.State.
type live struct {
	Severity pages.Severity `json:"severity"`
	Verdict  string         `json:"verdict"`
	Reasons  []string       `json:"reasons"`
	Figures  []liveFigure   `json:"figures"`
	Tables   []liveTable    `json:"tables"`
}

type liveFigure struct {
	ID       string         `json:"id"`
	Severity pages.Severity `json:"severity"`
	Text     string         `json:"text"`
	Note     string         `json:"note"`
	Line     string         `json:"line"`
}

type liveTable struct {
	ID   string    `json:"id"`
	Rows []liveRow `json:"rows"`
}

type liveRow struct {
	Severity pages.Severity `json:"severity"`
	Cells    []string       `json:"cells"`
}

func newLive(s pages.State) live {
	e := live{Severity: s.Severity, Verdict: s.Verdict, Reasons: notNil(s.Reasons), Figures: []liveFigure{}, Tables: []liveTable{}}
	for _, f := range s.Figures {
		e.Figures = append(e.Figures, liveFigure{f.ID, f.Severity, f.Text, f.Note, f.Line})
	}
	for _, t := range s.Tables {
		rows := []liveRow{}
		for _, r := range t.Rows {
			rows = append(rows, liveRow{r.Severity, notNil(r.Cells)})
		}
		e.Tables = append(e.Tables, liveTable{t.ID, rows})
	}
	return e
}
