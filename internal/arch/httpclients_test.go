package arch

import (
	"go/ast"
	"slices"
	"testing"
)

// literalRule requires that composite literals of a struct type set a field.
type literalRule struct {
	path, name, field string
	why               string
}

// literalRules is the table of such types, outside netguard and test servers.
func literalRules() []literalRule {
	return []literalRule{
		{
			"net/http", "Client", "Transport",
			"a client without a transport uses http.DefaultTransport, and bypasses netguard: set Transport",
		},
		{
			"net/http", "Transport", "DialContext",
			"a transport without a dial function has a dialer of its own, and bypasses netguard: set DialContext",
		},
	}
}

// isWithout reports whether a literal does not set a field.
func isWithout(lit *ast.CompositeLit, field string) bool {
	return !slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return true // without keys every field is set
		}
		key, ok := kv.Key.(*ast.Ident)
		return ok && key.Name == field
	})
}

// checkLiterals checks every file that is not a test.
func checkLiterals(tr *tree) []finding {
	var found []finding
	m := tr.resolve()
	for _, s := range tr.code() {
		if allowed([]string{"internal/netguard/...", "internal/testserver/..."}, s) {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			p, name, _ := m.qualified(s, lit.Type)
			for _, r := range literalRules() {
				if p == r.path && name == r.name && isWithout(lit, r.field) {
					found = append(found, finding{
						tr.where(lit.Pos()),
						"http." + r.name + " literal without " + r.field, r.why,
					})
				}
			}
			return true
		})
	}
	return found
}

func TestHTTPClients(t *testing.T) { report(t, checkLiterals(readModule(t))) }

func TestHTTPClientsFire(t *testing.T) {
	for _, c := range []struct {
		name, path, text string
		want             string // part of the message; "" without a finding
	}{
		{
			"client without transport", "proxy/x.go", `import "net/http"; var c = &http.Client{Timeout: 1}`,
			"http.Client literal",
		},
		{
			"client with transport", "proxy/x.go",
			`import "net/http"; var c = &http.Client{Timeout: 1, Transport: t}`, "",
		},
		{"client by alias", "proxy/x.go", `import web "net/http"; var c = &web.Client{}`, "http.Client literal"},
		{"client in netguard", "internal/netguard/x.go", `import "net/http"; var c = &http.Client{}`, ""},
		{
			"transport with its own dialer", "proxy/x.go", `import "net/http"; var c = http.Transport{}`,
			"http.Transport literal",
		},
		{"transport on a dialer", "proxy/x.go", `import "net/http"; var c = http.Transport{DialContext: d}`, ""},
		{"client of ours", "proxy/x.go", `type Client struct{}; var c = Client{}`, ""},
		{"a test", "proxy/x_test.go", `import "net/http"; var c = &http.Client{}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := fakeTree(t, map[string]string{c.path: "package x\n" + c.text + "\n"})
			var want []string
			if c.want != "" {
				want = []string{c.path + ":2 " + c.want}
			}
			wantFindings(t, checkLiterals(tr), want...)
		})
	}
}
