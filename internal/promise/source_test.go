package promise

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// source is the code of the program by package, without tests and build tools.
type source []sourcePackage

type sourcePackage struct {
	folder string // "proxy/route"
	files  []*ast.File
	texts  map[string]string // string constants of the package
}

// isBuilders reports whether a folder contains build tools, which are not part of the program.
func isBuilders(folder string) bool {
	switch folder {
	case "internal/adversary", "internal/arch", "internal/bench", "internal/deploy", "internal/promise",
		"internal/testserver",
		"internal/tools", "test":
		return true
	}
	name := path.Base(folder)
	return name == "testdata" || name == "node_modules" || strings.HasSuffix(name, "test") ||
		strings.HasPrefix(name, ".") && name != "."
}

func readSource(root string) (source, error) {
	var all source
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if relative = filepath.ToSlash(relative); entry.IsDir() {
			if isBuilders(relative) {
				return fs.SkipDir
			}
			all = append(all, sourcePackage{folder: relative, texts: map[string]string{}})
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := path.Dir(relative)
		for i := range all {
			if all[i].folder == folder {
				all[i].files = append(all[i].files, file)
			}
		}
		return nil
	})
	for i := range all {
		all[i].readTexts()
	}
	return all, err
}

// readTexts finds the string constants of a package. Each round resolves constants composed of those found
// before.
func (p *sourcePackage) readTexts() {
	for range 3 {
		for _, f := range p.files {
			for _, d := range f.Decls {
				if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
					p.readConstants(g)
				}
			}
		}
	}
}

func (p *sourcePackage) readConstants(g *ast.GenDecl) {
	for _, spec := range g.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || len(v.Values) != len(v.Names) {
			continue
		}
		for i, name := range v.Names {
			if text, ok := p.text(v.Values[i]); ok {
				p.texts[name.Name] = text
			}
		}
	}
}

// text returns the value of a constant string expression; ok is false for other expressions. A part that is not
// constant becomes an ellipsis if another part is constant.
func (p *sourcePackage) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return constant.StringVal(constant.MakeFromLiteral(e.Value, e.Kind, 0)), true
		}
	case *ast.ParenExpr:
		return p.text(e.X)
	case *ast.Ident:
		text, ok := p.texts[e.Name]
		return text, ok
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, isLeft := p.text(e.X)
		right, isRight := p.text(e.Y)
		if !isLeft && !isRight {
			return "", false
		}
		if !isLeft {
			left = "…"
		}
		if !isRight {
			right = "…"
		}
		return left + right, true
	case *ast.CallExpr: // a conversion or formatting
		switch nameOf(e.Fun) {
		case "string", "Sprintf", "Errorf", "text":
			if len(e.Args) > 0 {
				return p.text(e.Args[0])
			}
		}
	}
	return "", false
}

// nameOf returns the last part of the name of a function, a type or a value, "" for other expressions.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.ParenExpr:
		return nameOf(e.X)
	case *ast.StarExpr:
		return nameOf(e.X)
	}
	return ""
}

// inspect calls f for each node of the source.
func (s source) inspect(f func(p *sourcePackage, n ast.Node)) {
	for i := range s {
		s[i].inspect(func(n ast.Node) { f(&s[i], n) })
	}
}

func (p *sourcePackage) inspect(f func(ast.Node)) {
	for _, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			if n != nil {
				f(n)
			}
			return true
		})
	}
}
