package arch

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

const (
	serviceWhy = "without what serves, all else compiles, and urnd resolve answers: knowledge points down. Move what " +
		"both need below proxy, or into a file of cmd/urnd that serves nothing"
	serveWhy = "the commands that serve are added to the others by this one call, without which the program " +
		"resolves alone"
)

// The commands that serve are returned by a function of cmd/urnd, which main.go calls.
const (
	commands     = "cmd/urnd"
	firstFile    = commands + "/main.go"
	serviceStart = "serviceCommands"
)

// serviceRooms lists the packages that serve.
func serviceRooms() []string {
	return []string{"proxy/...", "internal/daemon", "internal/observe/requests", "internal/cli/access"}
}

func serves(folder string) bool {
	return slices.ContainsFunc(serviceRooms(), func(room string) bool { return matches(room, folder) })
}

// checkService finds code that would not compile without the packages that serve and the files of cmd/urnd that
// need them: packages that import one, and files of cmd/urnd that import one and are needed by main.go for
// other commands. Methods that are only needed for an interface are not found.
func checkService(tr *tree) []finding {
	found, needed := neededFiles(tr)
	for _, s := range tr.code() {
		way, isNeeded := needed[s.path]
		if serves(s.dir()) || s.dir() == commands && !isNeeded {
			continue
		}
		for _, spec := range s.ast.Imports {
			to, ours := tr.local(importedPath(spec))
			if !ours || !serves(to) {
				continue
			}
			what := s.dir() + " imports " + to
			if isNeeded {
				what = way + " imports " + to
			}
			found = append(found, finding{tr.where(spec.Pos()), what, serviceWhy})
		}
	}
	return found
}

// neededFiles returns the files of cmd/urnd that main.go needs for all commands except those that serve, each
// with the chain of references: "main.go, wire_resolver.go (newResolution)". It is a finding if main.go does
// not reference the commands that serve exactly once.
func neededFiles(tr *tree) (found []finding, ways map[string]string) {
	files := map[string]*source{}
	for _, s := range tr.code() {
		if s.dir() == commands {
			files[s.path] = s
		}
	}
	first, ok := files[firstFile]
	if !ok {
		return []finding{{firstFile, "there is no " + firstFile, serveWhy}}, nil
	}
	m, starts := tr.resolve(), 0
	methods := methodsOf(files)
	ways = map[string]string{firstFile: "main.go"}
	for next := []*source{first}; len(next) > 0; next = next[1:] {
		s := next[0]
		uses(m, s, methods, func(name, file string) {
			if s == first && name == serviceStart {
				starts++
				return
			}
			if used, ok := files[file]; ok && ways[file] == "" {
				ways[file] = ways[s.path] + ", " + strings.TrimPrefix(file, commands+"/") + " (" + name + ")"
				next = append(next, used)
			}
		})
	}
	if starts != 1 {
		found = append(found, finding{firstFile, "main.go does not name " + serviceStart + " once", serveWhy})
	}
	return found, ways
}

// methodsOf returns the files that declare methods, by method name.
func methodsOf(files map[string]*source) map[string][]string {
	methods := map[string][]string{}
	for path, s := range files {
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[f.Name.Name] = append(methods[f.Name.Name], path)
			}
		}
	}
	return methods
}

// uses calls f with each name in a file that is declared in another file of its package, and with that file. A
// selector whose operand has an unknown type, such as a type of another package, may refer to every method of
// that name.
func uses(m *bindings, s *source, methods map[string][]string, f func(name, file string)) {
	ast.Inspect(s.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if o := m.uses[n]; o != nil && o.Pos().IsValid() {
				f(n.Name, m.tree.fset.File(o.Pos()).Name())
			}
		case *ast.SelectorExpr:
			if _, _, isOfPackage := m.qualified(s, n); m.uses[n.Sel] == nil && !isOfPackage &&
				!ast.IsExported(n.Sel.Name) {
				for _, file := range methods[n.Sel.Name] {
					f(n.Sel.Name, file)
				}
			}
		}
		return true
	})
}

func TestService(t *testing.T) {
	tr := readModule(t)
	report(t, checkService(tr))
	_, ways := neededFiles(tr)
	if ways["cmd/urnd/wire_resolver.go"] == "" || ways["cmd/urnd/wire_service.go"] != "" {
		t.Errorf("main.go needs %q", ways)
	}
}

func TestServiceFires(t *testing.T) {
	const (
		first = "package main\nfunc main() { serviceCommands(); resolve() }"
		wire  = "package main\nimport \"example.org/model/internal/daemon\"\nvar _ = daemon.X\n" +
			"func serviceCommands() {}\nfunc of() {}\ntype served struct{}\nfunc (served) start() {}"
	)
	for _, c := range []struct {
		name, path, text string
		want             []string
	}{
		{"nothing", "uri/uri.go", "package uri", nil},
		{
			"a package", "cache/x.go", "package cache\nimport _ \"example.org/model/proxy/route\"",
			[]string{"cache/x.go:2 cache imports proxy/route"},
		},
		{"a package that serves", "proxy/gate/x.go", "package gate\nimport _ \"example.org/model/proxy/route\"", nil},
		{
			"a file that resolves", "cmd/urnd/a.go",
			"package main\nimport _ \"example.org/model/proxy\"\nfunc resolve() {}",
			[]string{"cmd/urnd/a.go:2 main.go, a.go (resolve) imports proxy"},
		},
		{
			"a file that it needs", "cmd/urnd/a.go", "package main\nfunc resolve() { of() }",
			[]string{"cmd/urnd/serve.go:2 main.go, a.go (resolve), serve.go (of) imports internal/daemon"},
		},
		{
			"a method", "cmd/urnd/a.go", "package main\nfunc resolve() { var s served; s.start() }",
			[]string{"cmd/urnd/serve.go:2 main.go, a.go (resolve), serve.go (served) imports internal/daemon"},
		},
		{
			"a method of an unknown type", "cmd/urnd/a.go",
			"package main\nimport \"sync\"\nfunc resolve() { sync.X().start() }",
			[]string{"cmd/urnd/serve.go:2 main.go, a.go (resolve), serve.go (start) imports internal/daemon"},
		},
		{"a variable of the same name", "cmd/urnd/a.go", "package main\nfunc resolve() { var of int; _ = of }", nil},
		{
			"a test", "cmd/urnd/x_test.go",
			"package main\nimport _ \"example.org/model/proxy\"\nfunc resolve() { of() }", nil,
		},
		{
			"no commands that serve", firstFile, "package main\nfunc main() {}",
			[]string{firstFile + " main.go does not name"},
		},
		{
			"more of their file", firstFile, "package main\nfunc main() { serviceCommands(); of() }",
			[]string{"cmd/urnd/serve.go:2 main.go, serve.go (of) imports internal/daemon"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			texts := map[string]string{
				firstFile: first, "cmd/urnd/serve.go": wire, "internal/daemon/x.go": "package daemon\nvar X int",
				c.path: c.text,
			}
			wantFindings(t, checkService(fakeTree(t, texts)), c.want...)
		})
	}
}
