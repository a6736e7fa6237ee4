package editor

import (
	"fmt"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// barChart are bars of groups, one below the other. Lengths are in the units of the picture.
type barChart struct {
	Height int
	Rows   []barRow
}

type barRow struct {
	Word           string
	Y, TextY       int
	Parts          []bar
	Number         int64
	NumberX, WordX int
}

type bar struct {
	X, Width int
	Class    string
}

// The measures of charts.
const (
	chartWidth  = 640
	barsBegin   = 150 // behind the words
	barsRoom    = 410
	rowHeight   = 26
	barHeight   = 18
	wordLength  = 16 // characters of a group
	chartHeight = 160
)

// barsOf returns the chart of groups, nil for none.
func barsOf(groups []countedGroup) *barChart {
	most := int64(0)
	for i := range groups {
		most = max(most, groups[i].Sum())
	}
	if most == 0 {
		return nil
	}
	c := &barChart{Height: len(groups)*rowHeight + 4}
	for i := range groups {
		g := &groups[i]
		row := barRow{Word: cutWord(g.Group), Y: i*rowHeight + 4, TextY: i*rowHeight + 4 + barHeight - 5, Number: g.Sum(), WordX: barsBegin - 8}
		at := barsBegin
		for _, part := range []struct {
			n     int64
			class string
		}{{g.Active, "active"}, {g.Reserved, "reserved"}, {g.Withdrawn, "withdrawn"}} {
			width := scaled(part.n, most, barsRoom)
			if part.n > 0 {
				width = max(width, 1)
				row.Parts = append(row.Parts, bar{at, width, part.class})
			}
			at += width
		}
		row.NumberX = at + 6
		c.Rows = append(c.Rows, row)
	}
	return c
}

// cutWord returns a text that has room before the bars.
func cutWord(text string) string {
	if r := []rune(text); len(r) > wordLength {
		return string(r[:wordLength-1]) + "…"
	}
	return text
}

// scaled returns the part of a length that n is of most.
func scaled(n, most int64, length int) int {
	if most <= 0 || n <= 0 {
		return 0
	}
	return int(float64(n) / float64(most) * float64(length))
}

// periodChart are the resolutions of a name, period by period.
type periodChart struct {
	First, Last string
	Most        int64
	// People and Bots are the outlines of all bars.
	People, Bots string
}

// chartOf returns the chart of periods that follow one another, nil where nothing was counted.
func chartOf(periods []registry.Count) *periodChart {
	n := len(periods)
	if n == 0 {
		return nil
	}
	c := &periodChart{First: periods[0].Period, Last: periods[n-1].Period}
	for _, p := range periods {
		c.Most = max(c.Most, p.People+p.Bots)
	}
	if c.Most == 0 {
		return nil
	}
	var people, bots strings.Builder
	for i, p := range periods {
		begin, end := i*chartWidth/n, (i+1)*chartWidth/n
		width := max(end-begin-1, 1)
		high := barOf(&people, begin, chartHeight, width, scaled(p.People, c.Most, chartHeight), p.People)
		barOf(&bots, begin, chartHeight-high, width, scaled(p.Bots, c.Most, chartHeight), p.Bots)
	}
	c.People, c.Bots = people.String(), bots.String()
	return c
}

// barOf draws a bar up from a point, which is seen where it stands for anything, and returns how high it is.
func barOf(b *strings.Builder, x, y, width, high int, n int64) int {
	if n == 0 {
		return 0
	}
	high = max(min(high, y), 1)
	fmt.Fprintf(b, "M%d %dh%dv-%dh-%dz", x, y, width, high, width)
	return high
}

// Said says in words what the chart shows.
func (c *periodChart) Said() string {
	return fmt.Sprintf("Bars from %s to %s; the highest is %d. The table below has the numbers.", c.First, c.Last, c.Most)
}
