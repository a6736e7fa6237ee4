//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// table contains the results, with a column for each server.
type table struct {
	settings settings
	columns  []*column
}

type column struct {
	peer, name, version string
	processors          int             // available to the server
	cells               map[string]cell // by title of the row
	failed              error           // why the measurement of the server was aborted
	server              *server         // nil if it did not start, and for curl
	featured            map[feature]startedServer
}

func newColumn(peer string, processors int) *column {
	c := &column{
		peer: peer, name: peer, processors: processors, cells: map[string]cell{},
		featured: map[feature]startedServer{},
	}
	if processors > 1 {
		c.name = fmt.Sprintf("%s, %d processors", peer, processors)
	}
	return c
}

// cell is the result of one row and server.
type cell struct {
	measured bool
	rate     float64         // requests per second, or MiB per second for tunnels
	p50      time.Duration   // latency of requests, if the load is not limited by the server
	p99      time.Duration   // latency of requests
	resident float64         // bytes per idle connection
	cpu      time.Duration   // CPU time of the server per request or MiB
	speedUp  float64         // upper bound of the speed-up by several processors; 0 if unknown
	idle     float64         // fraction of time in which the server's cores were idle
	others   float64         // fraction of time used by other programs
	shared   bool            // cores are shared with the clients: others, rate and p99 are not meaningful
	turns    []time.Duration // CPU time of each turn; 0 if not measured
	text     string          // effect of an event
	note     string          // note for the reader, or why it was not measured
}

// String formats a cell for the progress output.
func (c cell) String() string {
	if !c.measured {
		return "- (" + c.note + ")"
	}
	if c.text != "" {
		return c.text
	}
	if c.resident > 0 {
		return fmt.Sprintf("%.1f KiB each", c.resident/kibibyte)
	}
	text := fmt.Sprintf("%.0f a second, p99 %v, %v of CPU each; its cores were idle for %.0f %% of the time, and "+
		"others had them for %.0f %%",
		c.rate, c.p99, c.cpu, 100*c.idle, 100*c.others)
	if c.note != "" {
		text += " (" + c.note + ")"
	}
	return text
}

// idle is the idle fraction up to which the server is considered the bottleneck.
const idle = 0.1

// write writes tables in Markdown with the same rows and columns.
func (t table) write(w io.Writer) error {
	var b strings.Builder
	var versions []string
	for _, c := range t.columns {
		version := c.peer + " " + c.version
		if c.version != "" && !slices.Contains(versions, version) {
			versions = append(versions, version)
		}
	}
	fmt.Fprintf(&b, "%d connections, %v a row and server, in turns of %v; processors of the server: %s. %s.\n",
		t.settings.connections, t.settings.measure, turn, join(t.settings.processors), strings.Join(versions, ", "))
	notes := &footnotes{}
	t.matrix(&b, "CPU time of the server, in microseconds a request", notes, isLoaded, func(_ row, c cell) string {
		return fmt.Sprintf("%.1f", float64(c.cpu.Nanoseconds())/1e3)
	})
	t.compare(&b, notes)
	t.boundSpeedUp()
	if t.has(func(c cell) bool { return c.speedUp > 0 }) {
		t.matrix(&b, "rate with these processors by that with one, at most", notes, isLoaded,
			func(_ row, c cell) string {
				switch {
				case c.speedUp == 0:
					return "-"
				case c.idle > idle:
					return fmt.Sprintf("%.2f+", c.speedUp)
				}
				return fmt.Sprintf("%.2f", c.speedUp)
			})
	}
	t.matrix(&b, "requests (MiB) a second", notes, isLoaded, func(_ row, c cell) string {
		switch {
		case c.shared:
			return "-"
		case c.idle > idle:
			return thousands(c.rate) + "+"
		}
		return thousands(c.rate)
	})
	t.matrix(&b, "p99 of the latency, in milliseconds; p50 and p99 at half load", notes, isLoaded,
		func(_ row, c cell) string {
			switch {
			case c.p99 == 0 || c.shared:
				return "-"
			case c.p50 > 0:
				return fmt.Sprintf("%.2f, %.2f", c.p50.Seconds()*1e3, c.p99.Seconds()*1e3)
			}
			return fmt.Sprintf("%.2f", c.p99.Seconds()*1e3)
		})
	t.matrix(&b, "resident memory of the server, in KiB a connection", notes, row.idle, func(_ row, c cell) string {
		return fmt.Sprintf("%.1f", c.resident/kibibyte)
	})
	t.matrix(&b, "what happens", notes, row.isEvent, func(_ row, c cell) string { return c.text })
	if t.has(func(c cell) bool { return c.shared }) {
		b.WriteString("\nWhere the clients had to run on a core of the server there is no rate and no latency.\n")
	}
	b.WriteString("\n+ the server's cores were idle for more than a tenth of the time: the clients or the origin " +
		"were the limit\n")
	fmt.Fprintf(&b,
		"\nThe server's core was taken by others for %.0f %% of the time on average, and for %.0f %% in the worst "+
			"row.\n",
		100*t.others(mean), 100*t.others(slices.Max[[]float64]))
	notes.write(&b)
	for _, c := range t.columns {
		if c.failed != nil {
			fmt.Fprintf(&b, "\n%s failed: %s\n", c.name, strings.ReplaceAll(c.failed.Error(), "\n", " "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// compare writes the ratio of the CPU time of the first server to each other one in the same round.
func (t table) compare(b *strings.Builder, notes *footnotes) {
	if len(t.columns) < 2 {
		return
	}
	first := t.columns[0]
	others := table{settings: t.settings, columns: t.columns[1:]}
	others.matrix(b, "CPU time of "+first.name+" by that of the server in the same round: median and quartiles", notes,
		isLoaded,
		func(r row, c cell) string { return formatRatios(ratios(first.cells[r.title], c)) })
}

// others returns the fraction of time in which other programs used the cores, of all rows.
func (t table) others(of func([]float64) float64) float64 {
	var parts []float64
	for _, column := range t.columns {
		for _, c := range column.cells {
			if c.measured && !c.shared && c.resident == 0 && c.text == "" {
				parts = append(parts, c.others)
			}
		}
	}
	if len(parts) == 0 {
		return 0
	}
	return of(parts)
}

// has reports whether a cell satisfies a predicate.
func (t table) has(so func(cell) bool) bool {
	for _, column := range t.columns {
		for _, c := range column.cells {
			if so(c) {
				return true
			}
		}
	}
	return false
}

// boundSpeedUp compares the CPU time of a server with that for one processor. With n processors the rate is at
// most n times as great, divided by the ratio of CPU times; it is lower if they wait for each other.
func (t table) boundSpeedUp() {
	for _, many := range t.columns {
		for _, one := range t.columns {
			if many.peer != one.peer || many.processors == 1 || one.processors != 1 {
				continue
			}
			for title, c := range many.cells {
				if c.measured && c.cpu > 0 {
					c.speedUp = float64(many.processors) * float64(one.cells[title].cpu) / float64(c.cpu)
					many.cells[title] = c
				}
			}
		}
	}
}

func mean(numbers []float64) float64 {
	var sum float64
	for _, n := range numbers {
		sum += n
	}
	return sum / float64(len(numbers))
}

// isLoaded reports whether a row is measured by requests or bytes, not by memory or events.
func isLoaded(r row) bool { return !r.idle() && !r.isEvent() }

// matrix writes the results of the rows of a kind, and nothing if there is no such row.
func (t table) matrix(
	b *strings.Builder, title string, notes *footnotes, isOf func(row) bool, figure func(row, cell) string,
) {
	if !slices.ContainsFunc(rows(t.settings.rows), isOf) {
		return
	}
	fmt.Fprintf(b, "\n| %s |", title)
	for _, c := range t.columns {
		fmt.Fprintf(b, " %s |", c.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(t.columns)) + "\n")
	for _, r := range rows(t.settings.rows) {
		if !isOf(r) {
			continue
		}
		fmt.Fprintf(b, "| %s |", r.title)
		for _, c := range t.columns {
			value := c.cells[r.title]
			text := "-"
			if value.measured {
				text = figure(r, value)
			}
			fmt.Fprintf(b, " %s%s |", text, notes.mark(value.note))
		}
		b.WriteByte('\n')
	}
}

// footnotes numbers texts in the order of their first use.
type footnotes struct{ texts []string }

// mark returns the reference to a footnote.
func (f *footnotes) mark(text string) string {
	if text == "" {
		return ""
	}
	at := slices.Index(f.texts, text)
	if at < 0 {
		at = len(f.texts)
		f.texts = append(f.texts, text)
	}
	return fmt.Sprintf(" (%d)", at+1)
}

func (f *footnotes) write(b *strings.Builder) {
	for i, text := range f.texts {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "%d. %s\n", i+1, strings.ReplaceAll(text, "\n", " "))
	}
}

// thousands formats a number with a comma every three digits.
func thousands(f float64) string {
	digits := fmt.Sprintf("%.0f", f)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// join lists numbers: "1 and 2".
func join(numbers []int) string {
	var all []string
	for _, n := range numbers {
		all = append(all, strconv.Itoa(n))
	}
	return strings.Join(all, " and ")
}
