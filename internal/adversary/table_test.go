package adversary

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// row is a row of the table: the verdicts of one category.
type row struct {
	category string
	verdicts []verdict
	took     time.Duration
}

// survived counts the payloads that urnd survived.
func (r row) survived() int {
	n := 0
	for _, v := range r.verdicts {
		if v.failure == nil {
			n++
		}
	}
	return n
}

// report is the result of a run.
type report []row

// failed reports whether urnd did not survive a payload.
func (r report) failed() bool {
	for _, row := range r {
		if row.survived() < len(row.verdicts) {
			return true
		}
	}
	return false
}

// write prints the failures, followed by the table.
func (r report) write(w io.Writer) {
	for _, row := range r {
		for _, v := range row.verdicts {
			if v.failure != nil {
				fmt.Fprintf(w, "FAILED %s: %s\n", row.category, v)
			}
		}
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "category\ttried\tsurvived\tfailed\ttook\t")
	var tried, survived int
	var took time.Duration
	for _, row := range r {
		writeRow(table, row.category, len(row.verdicts), row.survived(), row.took)
		tried, survived, took = tried+len(row.verdicts), survived+row.survived(), took+row.took
	}
	writeRow(table, "all", tried, survived, took)
	_ = table.Flush()
}

func writeRow(w io.Writer, category string, tried, survived int, took time.Duration) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t\n", category, tried, survived, tried-survived,
		took.Round(100*time.Millisecond))
}
