package arch

import (
	"go/ast"
	"testing"
)

const skippedParentWhy = "internal/testserver skips the test that it is given where a peer is not installed, and a " +
	"subtest must not skip its parent: give the function literal a t of its own"

// checkSubtests finds function literals in a test with subtests that start a server with the t of the outer
// test.
func checkSubtests(tr *tree) []finding {
	var found []finding
	for _, s := range tr.files {
		for _, declared := range s.ast.Decls {
			f, ok := declared.(*ast.FuncDecl)
			if !ok || f.Body == nil || !s.test() || !has(f.Body, isSubtest) {
				continue
			}
			literals(f.Body, func(l *ast.FuncLit) {
				if has(l.Body, startsByT) && !hasParameterT(l.Type) {
					found = append(found, finding{
						tr.where(l.Pos()), "a peer is started by the t of the test around it",
						skippedParentWhy,
					})
				}
			})
		}
	}
	return found
}

func TestSubtests(t *testing.T) { report(t, checkSubtests(readModule(t))) }

// literals calls f with the outermost function literals of a node, and with nested ones that have no t of their
// own.
func literals(n ast.Node, f func(*ast.FuncLit)) {
	ast.Inspect(n, func(n ast.Node) bool {
		l, ok := n.(*ast.FuncLit)
		if ok {
			f(l)
		}
		return !ok || !hasParameterT(l.Type)
	})
}

func has(n ast.Node, is func(*ast.CallExpr) bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && is(call)
		return !found
	})
	return found
}

// isSubtest reports whether a call is t.Run.
func isSubtest(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Run" && isT(s.X)
}

// startsByT reports whether a call is a call of internal/testserver with t.
func startsByT(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 || !isT(call.Args[0]) {
		return false
	}
	name, ok := s.X.(*ast.Ident)
	return ok && name.Name == "testserver" && s.Sel.Name != "Wait"
}

func isT(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && name.Name == "t"
}

func hasParameterT(f *ast.FuncType) bool {
	for _, parameter := range f.Params.List {
		for _, name := range parameter.Names {
			if name.Name == "t" {
				return true
			}
		}
	}
	return false
}
