//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// turn is the time for which a server is measured before the next one. The speed of a virtual machine varies
// within seconds: only results of nearly the same time are comparable.
const turn = 500 * time.Millisecond

// measureRounds measures a row of all servers in rounds of one turn each.
func measureRounds(ctx context.Context, s settings, ends *network, columns []*column, r row, progress io.Writer) {
	rounds := max(1, int(s.measure/turn))
	s.measure, s.warm = min(s.measure, turn), min(s.warm, turn/5)
	if !isLoaded(r) {
		rounds = 1 // memory does not vary, and events take long
	}
	turns := make(map[*column][]cell, len(columns))
	for range rounds {
		for _, c := range columns {
			if c.failed != nil || ctx.Err() != nil {
				continue
			}
			if why := c.server.peer.why(r); why != "" {
				c.cells[r.title] = cell{note: why}
				continue
			}
			turns[c] = append(turns[c], measureColumn(ctx, s, ends, c, r))
			c.failed = c.server.ended()
		}
	}
	for _, c := range columns {
		if len(turns[c]) == 0 {
			continue
		}
		c.cells[r.title] = medianCell(turns[c])
		fmt.Fprintf(progress, "%s: %s: %s\n", c.name, r.title, c.cells[r.title])
	}
}

// measureColumn measures a row of a server once, with the feature of the row.
func measureColumn(ctx context.Context, s settings, ends *network, c *column, r row) cell {
	if r.isEvent() {
		got, err := measureEvent(ctx, ends, c.server.peer, c.processors, r)
		if err != nil {
			return cell{note: "failed: " + err.Error()}
		}
		return got
	}
	v, err := c.having(ctx, ends, r.with)
	if err != nil {
		return cell{note: "failed: " + err.Error()}
	}
	return measureRow(ctx, s, ends, v, r)
}

// medianCell returns the medians of at least one turn, and the first note.
func medianCell(turns []cell) cell {
	var measured []cell
	var all cell
	for _, t := range turns {
		if t.measured {
			measured = append(measured, t)
		}
		all.turns = append(all.turns, t.cpu)
		all.note = cmp.Or(all.note, t.note)
	}
	if len(measured) == 0 {
		return all
	}
	all.measured, all.shared, all.text = true, measured[0].shared, measured[0].text
	all.rate = medianOf(measured, func(c cell) float64 { return c.rate })
	all.p50 = medianOf(measured, func(c cell) time.Duration { return c.p50 })
	all.p99 = medianOf(measured, func(c cell) time.Duration { return c.p99 })
	all.cpu = medianOf(measured, func(c cell) time.Duration { return c.cpu })
	all.resident = medianOf(measured, func(c cell) float64 { return c.resident })
	all.idle = medianOf(measured, func(c cell) float64 { return c.idle })
	all.others = medianOf(measured, func(c cell) float64 { return c.others })
	return all
}

func medianOf[T cmp.Ordered](cells []cell, of func(cell) T) T {
	values := make([]T, 0, len(cells))
	for _, c := range cells {
		values = append(values, of(c))
	}
	return quantile(values, 2)
}

// quantile returns a quartile of at least one value: 1 and 3 are the lower and upper quartile, 2 is the median.
func quantile[T cmp.Ordered](values []T, quarter int) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)*quarter/4]
}

// ratios returns the ratios of the CPU times of two cells for each round in which both were measured.
func ratios(c, other cell) []float64 {
	var all []float64
	for i := range min(len(c.turns), len(other.turns)) {
		if c.turns[i] > 0 && other.turns[i] > 0 {
			all = append(all, float64(c.turns[i])/float64(other.turns[i]))
		}
	}
	return all
}

// formatRatios formats the median and the quartiles of ratios.
func formatRatios(all []float64) string {
	if len(all) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", quantile(all, 2), quantile(all, 1), quantile(all, 3))
}
