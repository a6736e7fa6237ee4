package arch

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// Limits in lines. Well-structured codebases have a median of 80 to 150.
const (
	maxLines     = 500
	maxTestLines = 1000 // tests contain data, which may be long
)

const (
	maxWhy  = "a file has one concept: this one has several. Split it by concept, not in halves"
	testWhy = "tests are data: move vectors to testdata, helpers to a file of their own, and cases to the concept " +
		"they test"
)

// checkSizes checks the files against the limits.
func checkSizes(tr *tree) []finding {
	var found []finding
	for _, s := range tr.files {
		limit, why := maxLines, maxWhy
		if s.test() {
			limit, why = maxTestLines, testWhy
		}
		if s.lines > limit && !ast.IsGenerated(s.ast) { // generated code is not read; its source is a table
			what := fmt.Sprintf("the file has %d lines, the limit is %d", s.lines, limit)
			found = append(found, finding{fmt.Sprintf("%s:%d", s.path, limit+1), what, why})
		}
	}
	return found
}

func TestSizes(t *testing.T) { report(t, checkSizes(readModule(t))) }

func TestSizesFire(t *testing.T) {
	for _, c := range []struct {
		path  string
		lines int
		want  []string
	}{
		{"x/x.go", maxLines, nil},
		{"x/x.go", maxLines + 1, []string{"x/x.go:501 501 lines, the limit is 500"}},
		{"x/x_test.go", maxTestLines, nil},
		{"x/x_test.go", maxTestLines + 1, []string{"x/x_test.go:1001 1001 lines, the limit is 1000"}},
	} {
		tr := fakeTree(t, map[string]string{c.path: "package x" + strings.Repeat("\n", c.lines)})
		wantFindings(t, checkSizes(tr), c.want...)
	}
}
