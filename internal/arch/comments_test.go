package arch

import (
	"fmt"
	"strings"
	"testing"
)

const (
	uncommentedWhy = "the package comment is the first thing a newcomer reads: write above the package clause of " +
		"one file what the package is for and on what it does not depend"
	twiceWhy = "go doc joins several package comments in the order of file names: keep one, and begin the " +
		"other files with a comment after a blank line"
)

// checkComments requires one package comment in each package. Comments of test
// files do not count: go doc does not show them.
func checkComments(tr *tree) []finding {
	type group struct{ commented, all []*source }
	groups := map[string]*group{}
	var order []string // files are sorted, so this is too
	for _, s := range tr.code() {
		// A folder may also hold an ignored main, which is another package.
		key := s.dir() + " " + s.ast.Name.Name
		g := groups[key]
		if g == nil {
			g = &group{}
			groups[key] = g
			order = append(order, key)
		}
		g.all = append(g.all, s)
		// Text leaves out directives such as //go:build.
		if strings.TrimSpace(s.ast.Doc.Text()) != "" {
			g.commented = append(g.commented, s)
		}
	}
	var found []finding
	for _, key := range order {
		g := groups[key]
		name := g.all[0].ast.Name.Name
		switch {
		case len(g.commented) == 0:
			what := "package " + name + " has no package comment in any file"
			found = append(found, finding{tr.where(g.all[0].ast.Package), what, uncommentedWhy})
		case len(g.commented) > 1:
			for _, s := range g.commented[1:] {
				what := fmt.Sprintf("package %s has a second package comment, the first is in %s", name,
					g.commented[0].path)
				found = append(found, finding{tr.where(s.ast.Package), what, twiceWhy})
			}
		}
	}
	return found
}

func TestPackageComments(t *testing.T) { report(t, checkComments(readModule(t))) }

func TestPackageCommentsFire(t *testing.T) {
	const with = "// Package x is.\npackage x\n"
	for _, c := range []struct {
		name  string
		texts map[string]string
		want  []string
	}{
		{"one of two", map[string]string{"x/a.go": with, "x/b.go": "package x\n"}, nil},
		{
			"none",
			map[string]string{"x/a.go": "package x\n", "x/b.go": "package x\n"},
			[]string{"x/a.go:1 no package comment"},
		},
		{
			"two",
			map[string]string{"x/a.go": with, "x/b.go": with},
			[]string{"x/b.go:2 second package comment, the first is in x/a.go"},
		},
		{
			"three",
			map[string]string{"x/a.go": with, "x/b.go": with, "x/c.go": with},
			[]string{"x/b.go:2 second", "x/c.go:2 second"},
		},
		{
			"separate from the clause",
			map[string]string{"x/a.go": "// A file about x.\n\npackage x\n"},
			[]string{"x/a.go:3 no package comment"},
		},
		{
			"only a directive",
			map[string]string{"x/a.go": "//go:build linux\npackage x\n"},
			[]string{"x/a.go:2 no package comment"},
		},
		{
			"only in a test",
			map[string]string{"x/a.go": "package x\n", "x/a_test.go": with},
			[]string{"x/a.go:1 no package comment"},
		},
		{"only tests", map[string]string{"x/a_test.go": "package x\n"}, nil},
		{"in a test too", map[string]string{"x/a.go": with, "x/a_test.go": with}, nil},
		{"an ignored main", map[string]string{"x/a.go": with, "x/gen.go": "// Gen writes a.\npackage main\n"}, nil},
		{"the same name in another folder", map[string]string{"x/a.go": with, "y/x/a.go": with}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantFindings(t, checkComments(fakeTree(t, c.texts)), c.want...)
		})
	}
}
