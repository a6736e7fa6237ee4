//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// table is the result: a column for each server.
type table struct {
	settings settings
	columns  []column
}

type column struct {
	name, version string
	cells         map[string]cell // by the title of the row
	failed        error           // the server could not be measured to the end
}

func newColumn(name string) column { return column{name: name, cells: map[string]cell{}} }

// cell is one row of one server.
type cell struct {
	measured bool
	rate     float64       // requests, or MiB of tunnels, a second
	p99      time.Duration // of the latency of requests
	cpu      time.Duration // of the server, for a request or MiB
	idle     float64       // for which part of the time nothing ran on the server's core
	others   float64       // for which part others than the server did
	note     string        // what a reader must know, or why it is not measured
}

// String is for the progress.
func (c cell) String() string {
	if !c.measured {
		return "- (" + c.note + ")"
	}
	text := fmt.Sprintf("%.0f a second, p99 %v, %v of CPU each; its core was idle for %.0f %% of the time, and others had it for %.0f %%",
		c.rate, c.p99, c.cpu, 100*c.idle, 100*c.others)
	if c.note != "" {
		text += " (" + c.note + ")"
	}
	return text
}

// idle is the part of the time up to which the server is what limits the rate.
const idle = 0.1

// write writes three tables in Markdown, with the same rows and columns.
func (t table) write(w io.Writer) error {
	var b strings.Builder
	var versions []string
	for _, c := range t.columns {
		if c.version != "" {
			versions = append(versions, c.name+" "+c.version)
		}
	}
	fmt.Fprintf(&b, "%d connections, %v a row, after %v to warm up. %s.\n",
		t.settings.connections, t.settings.measure, t.settings.warm, strings.Join(versions, ", "))
	notes := &footnotes{}
	t.matrix(&b, "CPU time of the server, in microseconds a request", notes, func(c cell) string {
		return fmt.Sprintf("%.1f", float64(c.cpu.Nanoseconds())/1e3)
	})
	t.matrix(&b, "requests (MiB) a second", notes, func(c cell) string {
		if c.idle > idle {
			return thousands(c.rate) + "+"
		}
		return thousands(c.rate)
	})
	t.matrix(&b, "p99 of the latency, in milliseconds", notes, func(c cell) string {
		if c.p99 == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f", c.p99.Seconds()*1e3)
	})
	b.WriteString("\n+ the server's core was idle for more than a tenth of the time: the clients or the origin were the limit\n")
	fmt.Fprintf(&b, "\nThe server's core was taken by others for %.0f %% of the time on average, and for %.0f %% in the worst row.\n",
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

// others returns which part of the time others than the servers had their core, of all
// rows together.
func (t table) others(of func([]float64) float64) float64 {
	var parts []float64
	for _, column := range t.columns {
		for _, c := range column.cells {
			if c.measured {
				parts = append(parts, c.others)
			}
		}
	}
	if len(parts) == 0 {
		return 0
	}
	return of(parts)
}

func mean(numbers []float64) float64 {
	var sum float64
	for _, n := range numbers {
		sum += n
	}
	return sum / float64(len(numbers))
}

func (t table) matrix(b *strings.Builder, title string, notes *footnotes, figure func(cell) string) {
	fmt.Fprintf(b, "\n| %s |", title)
	for _, c := range t.columns {
		fmt.Fprintf(b, " %s |", c.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(t.columns)) + "\n")
	for _, r := range rows(t.settings.rows) {
		fmt.Fprintf(b, "| %s |", r.title)
		for _, c := range t.columns {
			value := c.cells[r.title]
			text := "-"
			if value.measured {
				text = figure(value)
			}
			fmt.Fprintf(b, " %s%s |", text, notes.mark(value.note))
		}
		b.WriteByte('\n')
	}
}

// footnotes numbers texts in the order in which they are used first.
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
