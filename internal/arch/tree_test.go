package arch

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// source is one Go file.
type source struct {
	path  string // from the module root, with slashes: "uri/parse.go"
	lines int
	ast   *ast.File
}

func (s *source) dir() string { return path.Dir(s.path) }
func (s *source) test() bool  { return strings.HasSuffix(s.path, "_test.go") }

// tree contains every Go file of one module, sorted by path.
type tree struct {
	module  string // module path in go.mod
	fset    *token.FileSet
	files   []*source
	resolve func() *bindings // binds the identifiers in all files, once
}

// finding is a violation of a rule.
type finding struct {
	where string // file:line
	what  string
	why   string
}

func (f finding) String() string {
	return fmt.Sprintf("%s: %s\n\twhy: %s", f.where, f.what, f.why)
}

func (t *tree) where(pos token.Pos) string {
	// not Position: a //line comment must not change the position
	p := t.fset.PositionFor(pos, false)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// code returns the files that are not tests.
func (t *tree) code() []*source {
	return slices.DeleteFunc(slices.Clone(t.files), (*source).test)
}

// local returns the folder of a package of the module by its import path ("." for
// the module root); ok is false for packages of other modules.
func (t *tree) local(importPath string) (dir string, ok bool) {
	if importPath == t.module {
		return ".", true
	}
	return strings.CutPrefix(importPath, t.module+"/")
}

// matches reports whether a pattern matches a folder (or, if it ends in .go, a
// file): "cache/*" is any one segment below cache, "cache/..." is cache and
// everything below it, as for the go command.
func matches(pattern, name string) bool {
	if pattern == "..." {
		return true
	}
	if top, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == top || strings.HasPrefix(name, top+"/")
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// allowed reports whether a file is in one of the places.
func allowed(places []string, s *source) bool {
	return slices.ContainsFunc(places, func(place string) bool {
		if strings.HasSuffix(place, ".go") {
			return matches(place, s.path)
		}
		return matches(place, s.dir())
	})
}

// parseTree parses sources, given as path and text.
func parseTree(module string, texts map[string]string) (*tree, error) {
	t := &tree{module: module, fset: token.NewFileSet()}
	t.resolve = sync.OnceValue(t.bind)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		f, err := parser.ParseFile(t.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		lines := strings.Count(text, "\n")
		if text != "" && !strings.HasSuffix(text, "\n") {
			lines++
		}
		t.files = append(t.files, &source{path: name, lines: lines, ast: f})
	}
	return t, nil
}

// readTexts reads every Go file below root except those in testdata, vendor, .git and nested modules, which
// have their own rules.
func readTexts(root string) (map[string]string, error) {
	texts := map[string]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != root && isSkipped(name, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || filepath.Ext(name) != ".go" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		texts[filepath.ToSlash(rel)] = string(text)
		return nil
	})
	return texts, err
}

func isSkipped(folder, base string) bool {
	if base == "testdata" || base == "vendor" || base == ".git" {
		return true
	}
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

// readTree reads the module whose go.mod is in dir or the nearest folder above.
func readTree(dir string) (*tree, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		return readTree(filepath.Dir(dir))
	}
	if err != nil {
		return nil, err
	}
	module := modulePath(string(text))
	if module == "" {
		return nil, fmt.Errorf("%s: no module line in go.mod", dir)
	}
	texts, err := readTexts(dir)
	if err != nil {
		return nil, err
	}
	return parseTree(module, texts)
}

func modulePath(gomod string) string {
	for line := range strings.Lines(gomod) {
		if words := strings.Fields(line); len(words) >= 2 && words[0] == "module" {
			return strings.Trim(words[1], `"`)
		}
	}
	return ""
}

// module is the tree of this module, which is read once for all tests and never modified.
var module = sync.OnceValues(func() (*tree, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return readTree(dir)
})

// readModule returns the module of this test.
func readModule(t *testing.T) *tree {
	t.Helper()
	tr, err := module()
	if err != nil {
		t.Fatalf("reading the module: %v", err)
	}
	return tr
}

// report fails the test once for each finding.
func report(t *testing.T, findings []finding) {
	t.Helper()
	for _, f := range findings {
		t.Error(f)
	}
	if len(findings) > 0 {
		t.Log("see go doc ./internal/arch for the rules, for what to do instead, and for how to add a row")
	}
}

// fakeModule is the module path of the synthetic trees below.
const fakeModule = "example.org/model"

// fakeTree parses a synthetic tree.
func fakeTree(t *testing.T, texts map[string]string) *tree {
	t.Helper()
	tr, err := parseTree(fakeModule, texts)
	if err != nil {
		t.Fatalf("the synthetic source does not parse: %v", err)
	}
	return tr
}

// wantFindings compares findings with the expected ones, each written as
// "file:line part-of-the-message".
func wantFindings(t *testing.T, got []finding, want ...string) {
	t.Helper()
	for i, f := range got {
		if f.why == "" {
			t.Errorf("finding without a reason: %v", f)
		}
		if i >= len(want) {
			t.Errorf("unexpected finding: %v", f)
			continue
		}
		where, part, _ := strings.Cut(want[i], " ")
		if f.where != where || !strings.Contains(f.what, part) {
			t.Errorf("finding %d is %q at %s, want %q at %s", i, f.what, f.where, part, where)
		}
	}
	for _, w := range want[min(len(got), len(want)):] {
		t.Errorf("no finding for %q", w)
	}
}

func TestReadTree(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":               "// a comment\nmodule example.org/model // and another\n\ngo 1.26\n",
		"a/a.go":               "package a\n",
		"a/a_test.go":          "package a\n\n//line elsewhere.go:90\nvar x int",
		"a/README.md":          "package no",
		"a/testdata/bad.go":    "not Go",
		"vendor/v/v.go":        "not Go",
		".git/hook.go":         "not Go",
		"nested/go.mod":        "module example.org/nested\n",
		"nested/n.go":          "not Go",
		"a/vendor/deep/d.go":   "not Go",
		"cmd/deep/er/still.go": "package main",
	} {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := readTree(filepath.Join(root, "a", "testdata")) // the root is found from a folder below
	if err != nil {
		t.Fatal(err)
	}
	if tr.module != fakeModule {
		t.Errorf("module %q, want %q", tr.module, fakeModule)
	}
	var got []string
	for _, s := range tr.files {
		got = append(got, fmt.Sprintf("%s %d %t", s.path, s.lines, s.test()))
	}
	want := []string{"a/a.go 1 false", "a/a_test.go 4 true", "cmd/deep/er/still.go 1 false"}
	if !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	if at := tr.where(tr.files[1].ast.Decls[0].Pos()); at != "a/a_test.go:4" {
		t.Errorf("a line comment moved the finding to %s", at)
	}
}

func TestReadTreeErrors(t *testing.T) {
	if _, err := parseTree(fakeModule, map[string]string{"a/a.go": "package"}); err == nil {
		t.Error("source that does not parse is accepted")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("go 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readTree(dir); err == nil {
		t.Error("a go.mod without a module line is accepted")
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"cache", "cache", true},
		{"cache", "cache/valkey", false},
		{"cache/*", "cache/valkey", true},
		{"cache/*", "cache", false},
		{"cache/*", "cache/valkey/deep", false},
		{"cache/...", "cache", true},
		{"cache/...", "cache/valkey/deep", true},
		{"cache/...", "caches", false},
		{"...", "cmd/urnd", true},
		{"resolver/ddds/dns*.go", "resolver/ddds/dns_tcp.go", true},
		{"resolver/ddds/dns*.go", "resolver/ddds/rule.go", false},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("matches(%q, %q) = %t", c.pattern, c.name, got)
		}
	}
}
