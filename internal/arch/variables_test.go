package arch

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"testing"
)

const (
	writtenWhy = "a variable of a package is shared by every server, test and goroutine in the process: set it where " +
		"it is declared and never again; mutable state belongs in a struct that a constructor returns (a test that " +
		"needs another value passes it in)"
	statefulWhy = "a value with a lock or an atomic is mutable: state belongs in a struct that a constructor " +
		"returns, not in a package"
)

// write is an expression that may modify its operand. It is an approximation: modifications of a slice copied
// from a package variable, and by methods of the receiver, are not found.
type write struct {
	operand ast.Expr
	how     string
}

// writes returns the writes of a node, without those of its children.
func writes(m *bindings, n ast.Node) []write {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE { // declares, or writes to a local variable
			return nil
		}
		var found []write
		for _, e := range n.Lhs {
			found = append(found, write{e, "assigned"})
		}
		return found
	case *ast.RangeStmt:
		if n.Tok != token.ASSIGN {
			return nil
		}
		return []write{{n.Key, "assigned by range"}, {n.Value, "assigned by range"}}
	case *ast.IncDecStmt:
		return []write{{n.X, "counted with " + n.Tok.String()}}
	case *ast.SendStmt:
		return []write{{n.Chan, "sent to"}}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []write{{n.X, "its address is taken"}}
		}
	case *ast.CallExpr:
		for _, name := range []string{"delete", "clear", "copy", "close"} {
			if len(n.Args) > 0 && m.builtin(n, name) {
				return []write{{n.Args[0], "changed by " + name}}
			}
		}
	}
	return nil
}

// variable is a package variable used in a file.
type variable struct {
	name   string
	ours   bool
	inTest bool // declared in a test file
}

// variable finds the package variable at the root of an operand: X in X.field[i], and pkg.X in *pkg.X.
func (m *bindings) variable(s *source, e ast.Expr) (variable, bool) {
	for {
		if p, name, ok := m.qualified(s, e); ok {
			// only a variable can be written to
			_, ours := m.tree.local(p)
			return variable{name: path.Base(p) + "." + name, ours: ours}, true
		}
		switch x := e.(type) {
		case *ast.Ident:
			declared, ok := m.packageVar(x)
			file := m.tree.fset.File(declared)
			return variable{name: x.Name, ours: true, inTest: ok && (&source{path: file.Name()}).test()}, ok
		case *ast.ParenExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return variable{}, false
		}
	}
}

// checkWrites also checks tests: a variable that only tests modify is a hook, and hooks prevent parallel tests.
// However, a test may set variables of test files and of other modules (http.DefaultTransport, to block it).
func checkWrites(tr *tree) []finding {
	var found []finding
	m := tr.resolve()
	for _, s := range tr.files {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			for _, w := range writes(m, n) {
				v, ok := m.variable(s, w.operand)
				if !ok || s.test() && (v.inTest || !v.ours) {
					continue
				}
				found = append(found, finding{
					tr.where(n.Pos()),
					"package variable " + v.name + " is written to: " + w.how, writtenWhy,
				})
			}
			return true
		})
	}
	return found
}

// checkStateful finds package variables that contain a lock or other state.
func checkStateful(tr *tree) []finding {
	state := []string{"Mutex", "RWMutex", "Once", "WaitGroup", "Cond", "Map", "Pool"}
	var found []finding
	m := tr.resolve()
	for _, s := range tr.code() {
		for _, v := range packageVars(s) {
			for _, n := range m.mentions(s, v, true) {
				if n.path == "sync" && slices.Contains(state, n.name) || n.path == "sync/atomic" {
					what := "package variable " + v.Names[0].Name + " holds state: " + path.Base(n.path) + "." + n.name
					found = append(found, finding{tr.where(v.Pos()), what, statefulWhy})
					break
				}
			}
		}
	}
	return found
}

func TestPackageVariables(t *testing.T) {
	tr := readModule(t)
	report(t, checkWrites(tr))
	report(t, checkStateful(tr))
}

func TestWritesFire(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string // kind of the write; "" for none
	}{
		{"assigned", `var X int; func f() { X = 1 }`, "X is written to: assigned"},
		{"assigned with others", `var X int; func f() { var err error; err, X = g() }`, "X is written to: assigned"},
		{"assigned with an operator", `var X int; func f() { X += 1 }`, "X is written to: assigned"},
		{"assigned in a literal", `var X int; var f = func() { X = 1 }`, "X is written to: assigned"},
		{"assigned in a method", `var X int; type T int; func (T) f() { X = 1 }`, "X is written to: assigned"},
		{
			"assigned after a shadow ended", `var X int; func f() { { X := 1; X = 2 }; X = 3 }`,
			"X is written to: assigned",
		},
		{
			"assigned by receiving", `var X int; func f(c chan int) { select { case X = <-c: } }`,
			"X is written to: assigned",
		},
		{"appended", `var X []int; func f() { X = append(X, 1) }`, "X is written to: assigned"},
		{"element", `var X = map[string]int{}; func f() { X["a"] = 1 }`, "X is written to: assigned"},
		{"element counted", `var X = map[string]int{}; func f() { X["a"]++ }`, "X is written to: counted with ++"},
		{"field", `var X unknown; func f() { (X).a.b[1].c = 1 }`, "X is written to: assigned"},
		{"what it points to", `var X *int; func f() { *X = 1 }`, "X is written to: assigned"},
		{"counted down", `var X int; func f() { X-- }`, "X is written to: counted with --"},
		{"address", `var X int; func f() { g(&X) }`, "X is written to: its address is taken"},
		{"address of a field", `var X unknown; func f() { g(&X.a[1]) }`, "X is written to: its address is taken"},
		{"address in a declaration", `var X int; var y = &X`, "X is written to: its address is taken"},
		{"delete", `var X = map[string]int{}; func f() { delete(X, "a") }`, "X is written to: changed by delete"},
		{"clear", `var X = map[string]int{}; func f() { clear(X) }`, "X is written to: changed by clear"},
		{"copy over", `var X [4]int; func f(y []int) { copy(X[1:], y) }`, "X is written to: changed by copy"},
		{"close", `var X = make(chan int); func f() { close(X) }`, "X is written to: changed by close"},
		{"send", `var X = make(chan int); func f() { X <- 1 }`, "X is written to: sent to"},
		{"range", `var X int; func f(y []int) { for X = range y {} }`, "X is written to: assigned by range"},
		{"range value", `var X int; func f(y []int) { for _, X = range y {} }`, "X is written to: assigned by range"},
		{
			"another package of ours", `import o "example.org/model/other"; func f() { o.X.y = 1 }`,
			"other.X is written to: assigned",
		},
		{
			"another package", `import "net/http"; func f() { http.DefaultTransport = nil }`,
			"http.DefaultTransport is written to",
		},

		{"read", `var X = []int{1}; func f() int { y := X[0]; return y + len(X) }`, ""},
		{
			"read into another",
			`var X = []int{1}; func f(y []int) { copy(y, X); y = append(y, X...); for y[0] = range X {} }`, "",
		},
		{"key of a write", `var X = 1; func f(y []int) { y[X] = X }`, ""},
		{"parameter", `var X int; func f(X int) { X = 1 }`, ""},
		{"result", `var X int; func f() (X int) { X = 1; return }`, ""},
		{"receiver", `var X int; type T struct{ a int }; func (X *T) f() { X.a = 1 }`, ""},
		{"local", `var X int; func f() { X := 1; X = 2; func() { X++ }() }`, ""},
		{"local var", `var X int; func f() { var X int; X = 2; g(&X) }`, ""},
		{"shadow by range", `var X int; func f(y []int) { for X := range y { X = 1 } }`, ""},
		{"shadow by if", `var X int; func f() { if X, err := g(); err == nil { X = 1 } }`, ""},
		{"shadow by switch", `var X int; func f(y any) { switch X := y.(type) { case int: X = 1 } }`, ""},
		{"shadow by literal", `var X int; var f = func(X int) { X = 1 }`, ""},
		{"field of the same name", `var X int; type T struct{ X int }; func f(t T) { t.X = 1; _ = &T{X: 2} }`, ""},
		{"import shadowed", `import "example.org/model/other"; var _ = other.X; func f(other *T) { other.X = 1 }`, ""},
		{"address of a literal", `import "net/http"; var x = &http.Server{}`, ""},
		{"what a call returns", `var X func() *T; func f() { X().a = 1 }`, ""},
		{"blank", `var _ = 1; func f() { _ = 2 }`, ""},
		{"delete of ours", `var X = 1; func f(delete func(int)) { delete(X) }`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []string
			if c.want != "" {
				want = []string{"x/x.go:2 " + c.want}
			}
			wantFindings(t, checkWrites(fakeTree(t, map[string]string{"x/x.go": "package x\n" + c.text + "\n"})),
				want...)
		})
	}
}

func TestWritesAcrossFiles(t *testing.T) {
	tr := fakeTree(t, map[string]string{
		"x/a.go":         "package x\nvar X int",
		"x/b.go":         "package x\nfunc f() {\n\tX = 1 }",
		"x/a_test.go":    "package x\nvar own int\nfunc g() { own = 1\n\tX = 2 }", // own is permitted, X is a hook
		"x/ext_test.go":  "package x_test\nimport \"example.org/model/x\"\nfunc g() { x.X = 3 }",
		"x/main_test.go": "package x_test\nimport \"net/http\"\nfunc h() { http.DefaultTransport = nil }",
		"y/y.go":         "package y\nvar X string\n",
		"y/z.go":         "package y\nfunc f() { var X int; X = 1 }",
	})
	wantFindings(t, checkWrites(tr), "x/a_test.go:4 X is written to", "x/b.go:3 X is written to",
		"x/ext_test.go:3 x.X is written to")
}

func TestStatefulFires(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`import "sync"; var mu sync.Mutex`, "mu holds state: sync.Mutex"},
		{`import s "sync"; var p = &s.Pool{New: func() any { return nil }}`, "p holds state: sync.Pool"},
		{`import "sync"; var x struct { mu sync.RWMutex; m map[string]int }`, "x holds state: sync.RWMutex"},
		{`import "sync/atomic"; var n atomic.Int64`, "n holds state: atomic.Int64"},
		{`import "sync/atomic"; var n atomic.Pointer[int]`, "n holds state: atomic.Pointer"},
		{`import "sync"; var table = sync.OnceValue(func() int { var mu sync.Mutex; return g(&mu) })`, ""},
		{`import "sync"; type T struct { mu sync.Mutex }; func f() { var mu sync.Mutex; mu.Lock() }`, ""},
		{`import "errors"; var ErrX = errors.New("x")`, ""},
	} {
		t.Run(c.text, func(t *testing.T) {
			var want []string
			if c.want != "" {
				want = []string{"x/x.go:2 " + c.want}
			}
			wantFindings(t, checkStateful(fakeTree(t, map[string]string{"x/x.go": "package x\n" + c.text + "\n"})),
				want...)
		})
	}
}
