package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

const fieldsWhy = "a field of requests that is read anywhere is a row of internal/httpmessage/requestfields.go, " +
	"which decides whether it is in a key, safelisted, passed on, shown and logged; one that only responses have is " +
	"a row of responseFields here"

// responseFields lists the fields that are only read from responses.
func responseFields() []string {
	return []string{
		"Age", "Cache-Groups", "Cache-Group-Invalidation", "Cache-Status", "Cache-Tag", "Date", "Etag", "Expires",
		"Last-Modified", "Link", "Location", "Proxy-Status", "Proxy-Support", "Retry-After", "Server", "Set-Cookie",
		"Surrogate-Control", "Surrogate-Key", "Vary", "Warning",
		"Www-Authenticate",
	}
}

// checkFields finds the names of header fields (capitalized constant strings) that are read by methods in
// places and are unknown. It is an approximation: names in variables and other comparisons are not found.
func checkFields(tr *tree, places []string, known func(name string) bool) []finding {
	var found []finding
	constants := constantTexts(tr)
	for _, s := range tr.code() {
		if !allowed(places, s) {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains([]string{"HasName", "Has", "Get", "Values", "List"}, method.Sel.Name) {
				return true
			}
			name, ok := textOf(call.Args[0], constants)
			if ok && 'A' <= name[0] && name[0] <= 'Z' && !known(name) {
				found = append(found, finding{
					tr.where(call.Pos()),
					fmt.Sprintf("%s reads the field %s, which is not in the table", s.dir(), name), fieldsWhy,
				})
			}
			return true
		})
	}
	return found
}

// constantTexts returns the string constants of the tree by unqualified name.
func constantTexts(tr *tree) map[string]string {
	texts := map[string]string{}
	for _, s := range tr.code() {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			decl, ok := n.(*ast.GenDecl)
			if !ok || decl.Tok != token.CONST {
				return true
			}
			for _, spec := range decl.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
					for i, name := range v.Names {
						if text, ok := textOf(v.Values[i], nil); ok {
							texts[name.Name] = text
						}
					}
				}
			}
			return true
		})
	}
	return texts
}

// textOf returns the string of a literal or constant; ok is false for other expressions and for "".
func textOf(e ast.Expr, constants map[string]string) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ = strconv.Unquote(e.Value)
		}
	case *ast.Ident:
		text = constants[e.Name]
	case *ast.SelectorExpr:
		text = constants[e.Sel.Name]
	}
	return text, text != ""
}

// TestFieldsAreKnown checks that the meaning of request header fields is defined in one table.
func TestFieldsAreKnown(t *testing.T) {
	rows := httpmessage.RequestFields()
	known := func(name string) bool {
		same := func(other string) bool { return strings.EqualFold(name, other) }
		return slices.ContainsFunc(responseFields(), same) ||
			slices.ContainsFunc(rows, func(f httpmessage.RequestField) bool {
				prefix, ok := strings.CutSuffix(f.Name, "*")
				return same(f.Name) || ok && strings.HasPrefix(name, prefix)
			})
	}
	places := []string{
		"cache/httpcache/...", "internal/http1/...", "internal/httpmessage/...", "proxy", "proxy/answer/...",
		"proxy/forward/...", "proxy/gate/...", "proxy/http1/...", "proxy/http2/...", "proxy/message/...",
		"proxy/present/...", "proxy/route/...",
		"resolver/scheme/http",
	}
	report(t, checkFields(readModule(t), places, known))
}

func TestUnknownFieldsFound(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"proxy/x.go", `var x = f.Has("Other")`, "proxy/x.go:2 proxy reads the field Other"},
		{"proxy/x.go", "const other = \"Other\"\nvar x = lines.Get(other)", "proxy/x.go:3 proxy reads the field Other"},
		{
			"proxy/x.go",
			`var x = f.Has("Known") || f.Has("directive") || f.Has("") || f.Set("Other", "") || other("Other")`, "",
		},
		{"proxy/x_test.go", `var x = f.Has("Other")`, ""},
		{"elsewhere/x.go", `var x = f.Has("Other")`, ""},
	} {
		var want []string
		if c.want != "" {
			want = []string{c.want}
		}
		tr := fakeTree(t, map[string]string{c.path: "package x\n" + c.text})
		wantFindings(t, checkFields(tr, []string{"proxy/..."}, func(name string) bool { return name == "Known" }),
			want...)
	}
}
