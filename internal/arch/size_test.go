package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// Limits in lines. Well-structured codebases have a median of 80 to 150.
const (
	usualLines   = 400 // a longer file needs a row in large
	maxLines     = 600 // absolute limit
	maxTestLines = 800 // tests contain data, which may be long
)

const (
	maxWhy   = "a file has one concept: this one has several. Split it by concept, not in halves"
	usualWhy = maxWhy + "; if it really has one, add a row with the reason to large (internal/arch/size_test.go)"
	testWhy  = "tests are data: move vectors to testdata, helpers to a file of their own, and cases to the concept " +
		"they test"
	staleWhy = "an exception that is not needed hides a later violation: remove the row from large " +
		"(internal/arch/size_test.go)"
)

// exception is a file that may exceed the usual length.
type exception struct {
	path string
	why  string
}

// large is the table of exceptions.
func large() []exception { return nil }

// limitOf returns the limit of a file: the greatest that it exceeds, or the lowest.
func limitOf(s *source) (limit int, why string) {
	switch {
	case s.test():
		return maxTestLines, testWhy
	case s.lines > maxLines:
		return maxLines, maxWhy
	}
	return usualLines, usualWhy
}

// checkSizes checks the files against the limits.
func checkSizes(tr *tree, exceptions []exception) []finding {
	var found []finding
	needed := map[string]bool{}
	for _, s := range tr.files {
		excepted := slices.ContainsFunc(exceptions, func(e exception) bool { return e.path == s.path && e.why != "" })
		limit, why := limitOf(s)
		if excepted && limit == usualLines && s.lines > usualLines {
			needed[s.path] = true
			continue
		}
		if s.lines > limit && !ast.IsGenerated(s.ast) { // generated code is not read; its source is a table
			what := fmt.Sprintf("the file has %d lines, the limit is %d", s.lines, limit)
			found = append(found, finding{fmt.Sprintf("%s:%d", s.path, limit+1), what, why})
		}
	}
	for _, e := range exceptions {
		if !needed[e.path] {
			found = append(found, finding{e.path, "the exception for this file is not needed", staleWhy})
		}
	}
	return found
}

// median returns the median length; for an even number of files, the upper median.
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
	tr := readModule(t)
	report(t, checkSizes(tr, large()))
	code := tr.code()
	t.Logf("%d files that are not tests, median %d lines; %d files in all, median %d lines",
		len(code), median(code), len(tr.files), median(tr.files))
}

func TestSizesFire(t *testing.T) {
	row := []exception{{"x/x.go", "one table that cannot be split"}}
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
		{"excepted, not needed", "x/x.go", 10, row, []string{stale}},
		{"excepted and gone", "x/y.go", 10, row, []string{stale}},
		{"large test", "x/x_test.go", 800, nil, nil},
		{"too large test", "x/x_test.go", 801, nil, []string{"x/x_test.go:801 801 lines, the limit is 800"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := fakeTree(t, map[string]string{c.path: "package x" + strings.Repeat("\n", c.lines)})
			wantFindings(t, checkSizes(tr, c.exceptions), c.want...)
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
