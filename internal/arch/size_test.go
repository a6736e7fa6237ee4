package arch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The budget in lines. The codebases we learn from have a median of 80 to 150.
const (
	usual     = 400 // above it, a file needs a row in large
	most      = 600 // above it, no row helps
	mostTests = 800 // tests are data, and data may be long
)

const (
	mostWhy  = "a file is one concept: this one holds several. Split it by noun, not by half"
	usualWhy = mostWhy + "; if it truly is one, give it a row with the reason in large (internal/arch/size_test.go)"
	testWhy  = "tests are data: move vectors to testdata, helpers to a file of their own, and cases to the concept they test"
	staleWhy = "a table of exceptions that are none hides the next one: remove the row from large (internal/arch/size_test.go)"
)

// exception is a file that may be longer than usual.
type exception struct {
	path string
	why  string
}

// large is the table of exceptions.
func large() []exception { return nil }

// budget is the limit that a file has to keep, of those that it could break.
func budget(s *source) (limit int, why string) {
	switch {
	case s.test():
		return mostTests, testWhy
	case s.lines > most:
		return most, mostWhy
	}
	return usual, usualWhy
}

// checkSizes holds the files against the budget.
func checkSizes(tr *tree, exceptions []exception) []finding {
	var found []finding
	needed := map[string]bool{}
	for _, s := range tr.files {
		excepted := slices.ContainsFunc(exceptions, func(e exception) bool { return e.path == s.path && e.why != "" })
		limit, why := budget(s)
		if excepted && limit == usual && s.lines > usual {
			needed[s.path] = true
			continue
		}
		if s.lines > limit {
			what := fmt.Sprintf("the file has %d lines, the limit is %d", s.lines, limit)
			found = append(found, finding{fmt.Sprintf("%s:%d", s.path, limit+1), what, why})
		}
	}
	for _, e := range exceptions {
		if !needed[e.path] {
			found = append(found, finding{e.path, "the exception for this file excepts nothing", staleWhy})
		}
	}
	return found
}

// median is the middle of the lengths; of two middles, the greater.
func median(files []*source) int {
	var lengths []int
	for _, s := range files {
		lengths = append(lengths, s.lines)
	}
	if len(lengths) == 0 {
		return 0
	}
	slices.Sort(lengths)
	return lengths[len(lengths)/2]
}

func TestSizes(t *testing.T) {
	tr := house(t)
	report(t, checkSizes(tr, large()))
	code := tr.code()
	t.Logf("%d files that are not tests, median %d lines; %d files in all, median %d lines",
		len(code), median(code), len(tr.files), median(tr.files))
}

func TestSizesFire(t *testing.T) {
	row := []exception{{"x/x.go", "one table that cannot be cut"}}
	stale := "x/x.go the exception"
	for _, c := range []struct {
		name, path string
		lines      int
		exceptions []exception
		want       []string
	}{
		{"usual", "x/x.go", 400, nil, nil},
		{"large", "x/x.go", 401, nil, []string{"x/x.go:401 401 lines, the limit is 400"}},
		{"large, excepted", "x/x.go", 600, row, nil},
		{
			"large, excepted without a reason", "x/x.go", 600,
			[]exception{{"x/x.go", ""}},
			[]string{"x/x.go:401 600 lines, the limit is 400", stale},
		},
		{"too large", "x/x.go", 601, nil, []string{"x/x.go:601 601 lines, the limit is 600"}},
		{"too large, excepted", "x/x.go", 601, row, []string{"x/x.go:601 601 lines, the limit is 600", stale}},
		{"excepted in vain", "x/x.go", 10, row, []string{stale}},
		{"excepted and gone", "x/y.go", 10, row, []string{stale}},
		{"large test", "x/x_test.go", 800, nil, nil},
		{"too large test", "x/x_test.go", 801, nil, []string{"x/x_test.go:801 801 lines, the limit is 800"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := sketch(t, map[string]string{c.path: "package x" + strings.Repeat("\n", c.lines)})
			expect(t, checkSizes(tr, c.exceptions), c.want...)
		})
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		lines []int
		want  int
	}{{nil, 0}, {[]int{7}, 7}, {[]int{9, 1, 5}, 5}, {[]int{1, 2, 3, 4}, 3}} {
		var files []*source
		for _, n := range c.lines {
			files = append(files, &source{lines: n})
		}
		if got := median(files); got != c.want {
			t.Errorf("median of %v is %d, want %d", c.lines, got, c.want)
		}
	}
}
