package arch

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// bindings contains the objects to which the identifiers of a tree refer.
//
// They come from the type checker of the standard library, run on one package at a time with every import
// replaced by an empty package. Most types are then unknown and most expressions are errors, but scopes are
// still exact, and the checks only need scopes: they determine whether net is the imported package, under any
// alias, or a local variable.
type bindings struct {
	tree *tree
	uses map[*ast.Ident]types.Object
}

// bind binds every identifier, including those of tests.
func (t *tree) bind() *bindings {
	packages := map[string][]*ast.File{} // one folder may hold x, x_test and an ignored main
	for _, s := range t.files {
		key := s.dir() + " " + s.ast.Name.Name
		packages[key] = append(packages[key], s.ast)
	}
	m := &bindings{tree: t, uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{
		Importer:    emptyImporter{},
		Error:       func(error) {}, // expected: see above
		FakeImportC: true,
	}
	for _, key := range slices.Sorted(maps.Keys(packages)) {
		dir, _, _ := strings.Cut(key, " ")
		// The error is the first of those given to Error.
		_, _ = conf.Check(t.module+"/"+dir, t.fset, packages[key], &types.Info{Uses: m.uses})
	}
	return m
}

// emptyImporter imports every package as an empty one.
type emptyImporter struct{}

func (emptyImporter) Import(importPath string) (*types.Package, error) {
	p := types.NewPackage(importPath, packageName(importPath))
	p.MarkComplete()
	return p, nil
}

// packageName guesses the name of a package from its path. After a wrong guess an identifier is unknown and
// fallback finds nothing. That only hides violations by packages whose name differs from their path, and the
// tables contain none.
func packageName(importPath string) string {
	base := path.Base(importPath)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(importPath))
	}
	base, _, _ = strings.Cut(base, ".") // gopkg.in/yaml.v3
	return strings.TrimSuffix(strings.TrimPrefix(base, "go-"), "-go")
}

// imported returns the package to which an identifier refers.
func (m *bindings) imported(s *source, id *ast.Ident) (importPath string, ok bool) {
	obj, known := m.uses[id]
	if !known {
		return fallback(s, id.Name)
	}
	if p, ok := obj.(*types.PkgName); ok {
		return p.Imported().Path(), true
	}
	return "", false
}

// fallback resolves names in code that the type checker skips after an error. A false finding is preferred to a
// missing one.
func fallback(s *source, name string) (importPath string, ok bool) {
	for _, spec := range s.ast.Imports {
		p := importedPath(spec)
		if spec.Name != nil && spec.Name.Name == name || spec.Name == nil && packageName(p) == name {
			return p, true
		}
	}
	return "", false
}

// qualified splits a selector such as net.Dial into the import path of the
// package and the name in it; ok is false for fields and methods.
func (m *bindings) qualified(s *source, e ast.Expr) (importPath, name string, ok bool) {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", "", false
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", "", false
	}
	importPath, ok = m.imported(s, id)
	return importPath, sel.Sel.Name, ok
}

// builtin reports whether a call is a call of the predeclared function name.
func (m *bindings) builtin(call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || id.Name != name {
		return false
	}
	obj, known := m.uses[id]
	if !known {
		return true // as in fallback
	}
	_, ok = obj.(*types.Builtin)
	return ok
}

// packageVar returns the position of the declaration of the package variable to which an identifier refers; ok
// is false for other identifiers.
func (m *bindings) packageVar(id *ast.Ident) (declared token.Pos, ok bool) {
	v, ok := m.uses[id].(*types.Var)
	if !ok || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() {
		return token.NoPos, false
	}
	return v.Pos(), true
}

// mention is an occurrence of a qualified name.
type mention struct {
	pos        token.Pos
	path, name string
}

// mentions returns the qualified names below a node. If outside is true, it excludes function types and bodies.
func (m *bindings) mentions(s *source, n ast.Node, outside bool) []mention {
	var found []mention
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.FuncType:
			return !outside
		case *ast.SelectorExpr:
			if p, name, ok := m.qualified(s, n); ok {
				found = append(found, mention{n.Pos(), p, name})
			}
		}
		return true
	})
	return found
}

// packageVars returns the var declarations outside functions.
func packageVars(s *source) []*ast.ValueSpec {
	var found []*ast.ValueSpec
	for _, d := range s.ast.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				found = append(found, v)
			}
		}
	}
	return found
}

func TestQualified(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", `import "net"; var _ = net.Dial`, "net.Dial"},
		{"alias", `import n "net"; func f() { n.Dial() }`, "net.Dial"},
		{"major version", `import "example.org/thing/v2"; var _ = thing.New`, "example.org/thing/v2.New"},
		{"version in the name", `import "gopkg.in/yaml.v3"; var _ = yaml.New`, "gopkg.in/yaml.v3.New"},
		{"type in a signature", `import "net"; func f(d *net.Dialer) {}`, "net.Dialer"},
		{"argument of an unknown function", `import "net"; func f() { nobody(other.thing(net.Dial)) }`, "net.Dial"},
		{"element of an unknown type", `import "net"; var _ = nobody.T{A: net.Dial}`, "net.Dial"},
		{"key of an unknown type", `import "net"; var _ = nobody.T{net.Dial: 1}`, "net.Dial"},
		{
			"case of a switch over the unknown",
			`import "net"; func f() { switch x := nobody.(type) { case int: net.Dial(x) } }`, "net.Dial",
		},
		{"body of a redeclared function", `import "net"; func f() {}; func f() { net.Dial() }`, "net.Dial"},
		{"method of an unknown type", `import "net"; func (n *nobody) f() { net.Dial() }`, "net.Dial"},
		{"parameter of the same name", `import "net"; var _ net.IP; func f(net thing) { net.Dial() }`, "net.IP"},
		{
			"variable of the same name",
			`import "net"; var _ net.IP; func f() { net := g(); func() { net.Dial() }() }`, "net.IP",
		},
		{"before the variable", `import "net"; func f() { net := net.Dial(); net.Close() }`, "net.Dial"},
		{"field of the same name", `import "net"; var _ net.IP; func f(a thing) { a.net.Dial() }`, "net.IP"},
		{"no import", `func f() { net.Dial() }`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := fakeTree(t, map[string]string{"x/x.go": "package x; " + c.text})
			var got []string
			for _, f := range tr.resolve().mentions(tr.files[0], tr.files[0].ast, false) {
				got = append(got, f.path+"."+f.name)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
