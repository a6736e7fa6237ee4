package status

import (
	"slices"
	"strconv"
	"time"

	"github.com/urnd/urnd/proxy/pages"
)

// Fault is a warning or an error of the log, or several that are the same.
type Fault struct {
	IsError             bool
	First, Last         time.Time
	Message, Attributes string
	Count               uint64
	// Others are how many with the same message came before, and are not listed any more.
	Others uint64
}

// The bounds of the faults on the page of the state, and on their own one, which has all that are kept where there is room.
const (
	fewFaults, fewOctets = 8, 6000
	mostOctets           = 24_000
)

func faultColumns() []string { return []string{"last (UTC)", "level", "what", "details", "times"} }

// FaultTables returns the faults on a page of their own.
func (s Sources) FaultTables() []pages.Table {
	all := s.Faults()
	return []pages.Table{{ID: "faults", Heading: "The last one first", Columns: faultColumns(), Rows: s.faultRows(all, len(all), mostOctets)}}
}

// lastFaults returns rows of the last faults, one for each message.
func (s Sources) lastFaults() []pages.Row {
	var all []Fault
	for _, f := range s.Faults() {
		i := slices.IndexFunc(all, func(later Fault) bool { return later.Message == f.Message && later.IsError == f.IsError })
		if i < 0 {
			all = append(all, f)
			continue
		}
		all[i].Others += f.Count + f.Others
	}
	return s.faultRows(all, fewFaults, fewOctets)
}

// faultRows returns rows of faults, at most so many, in at most so many octets.
func (s Sources) faultRows(all []Fault, most, octets int) (rows []pages.Row) {
	for _, f := range all[:min(len(all), most)] {
		row := pages.Row{Severity: pages.Warning, Cells: []string{s.when(f.Last), "warning", f.Message, f.Attributes, number(f.Count)}}
		if f.IsError {
			row.Severity, row.Cells[1] = pages.Critical, "error"
		}
		if f.Others > 0 {
			row.Cells[4] += ", and " + number(f.Others) + " with other details"
		}
		rows = append(rows, row)
	}
	if more := len(all) - len(rows); more > 0 {
		rows = append(rows, cells("and "+strconv.Itoa(more)+" more: see Faults"))
	}
	return orNone(within(rows, octets, ""), "none since the start")
}

// when returns a time, and how long ago it was, which changes once a minute.
func (s Sources) when(at time.Time) string {
	const day = 24 * time.Hour
	at = at.UTC()
	ago := s.Now().Sub(at)
	switch {
	case ago < time.Minute:
		return at.Format(time.TimeOnly) + ", just now"
	case ago < time.Hour:
		return at.Format(time.TimeOnly) + ", " + strconv.Itoa(int(ago/time.Minute)) + " min ago"
	case ago < day:
		return at.Format(time.TimeOnly) + ", " + strconv.Itoa(int(ago/time.Hour)) + " h ago"
	default:
		return at.Format(time.DateTime)
	}
}
