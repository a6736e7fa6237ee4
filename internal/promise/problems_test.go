package promise

import (
	"fmt"
	"go/ast"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// gatherProblems reads the errors shown to clients: the table of statuses with code, error text, setting and
// response header field; all codes of messages; the rules of syntax with their sections; and the problem
// documents (RFC 9457) of responses.
func gatherProblems(t *testing.T, p *program) []string {
	texts := p.source.errorTexts()
	var lines []string
	var messages struct {
		Error map[string]string `toml:"error"`
	}
	english, err := os.ReadFile(filepath.Join(root, "proxy/pages/messages/en.toml"))
	if err == nil {
		err = toml.Unmarshal(english, &messages)
	}
	if err != nil {
		t.Fatal(err)
	}
	for code := range messages.Error {
		lines = append(lines, "code "+code)
	}
	p.source.inspect(func(p *sourcePackage, n ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok && nameOf(call.Fun) == "newRule" {
			lines = append(lines, p.rule(call.Args))
		}
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return
		}
		if fields := fieldsOf(literal); nameOf(literal.Type) == "Rule" && fields["Requirement"] != nil {
			lines = append(lines,
				p.rule([]ast.Expr{fields["Code"], fields["Name"], fields["Section"], fields["Requirement"]}))
		}
		if row := p.row(literal, texts); row != "" {
			lines = append(lines, row)
		}
	})
	for _, r := range p.requests {
		if r.header.Get("Content-Type") != "application/problem+json" {
			continue
		}
		var document struct {
			Title, Code, Rule, Section string
			RuleCode                   string `json:"rule_code"`
			Status                     int
		}
		decode(t, r.response, &document)
		line := fmt.Sprintf("document %d %q code=%s", document.Status, document.Title, document.Code)
		if document.Rule != "" {
			line += fmt.Sprintf(" rule=%q rule_code=%s section=%q", document.Rule, document.RuleCode, document.Section)
		}
		lines = append(lines, line)
	}
	return lines
}

// errorTexts returns the texts of errors by the names of their variables, including aliases of errors of other
// packages with the name of the package: "registry.ErrInvalidToken".
func (s source) errorTexts() map[string]string {
	texts, aliases := make(map[string]string), make(map[string]string)
	s.inspect(func(p *sourcePackage, n ast.Node) {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return
		}
		for i, name := range v.Names {
			if i >= len(v.Values) {
				return
			}
			if other, ok := v.Values[i].(*ast.SelectorExpr); ok {
				aliases[p.files[0].Name.Name+"."+name.Name] = nameOf(other.X) + "." + other.Sel.Name
			}
			call, ok := v.Values[i].(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				continue
			}
			if text, ok := p.text(call.Args[0]); ok {
				texts[p.files[0].Name.Name+"."+name.Name] = text
			}
		}
	})
	for name, of := range aliases {
		if text, ok := texts[of]; ok {
			texts[name] = text
		}
	}
	return texts
}

// row returns the line of a row in a table of errors and statuses, "" for another literal.
func (p *sourcePackage) row(literal *ast.CompositeLit, texts map[string]string) string {
	values := fieldsOf(literal)
	if values["err"] == nil || values["status"] == nil || !strings.HasPrefix(nameOf(values["status"]), "Status") {
		return ""
	}
	name := nameOf(values["err"])
	if name == "err" { // derived from the error of a client or a server
		return ""
	}
	if selector, ok := values["err"].(*ast.SelectorExpr); ok {
		name = nameOf(selector.X) + "." + name
	} else {
		name = p.files[0].Name.Name + "." + name
	}
	reported := compact(texts[name])
	if texts[name] == "" {
		reported = name // from the standard library
	}
	line := fmt.Sprintf("status %s %s", statusCode(nameOf(values["status"])), reported)
	if code, ok := p.text(values["code"]); ok {
		line += " code=" + code
	}
	if field, ok := p.text(values["name"]); ok {
		value, _ := p.text(values["value"])
		line += fmt.Sprintf(" field=%q", field+": "+value)
	}
	if setting, ok := p.text(values["setting"]); ok {
		line += " setting=" + setting
	}
	return line
}

// fieldsOf returns the values of a composite literal by key.
func fieldsOf(literal *ast.CompositeLit) map[string]ast.Expr {
	values := make(map[string]ast.Expr)
	for _, e := range literal.Elts {
		if field, ok := e.(*ast.KeyValueExpr); ok {
			values[nameOf(field.Key)] = field.Value
		}
	}
	return values
}

// rule returns the line of a syntax rule: its code, its constant name and section, and its text.
func (p *sourcePackage) rule(parts []ast.Expr) string {
	line := "rule"
	for _, part := range parts {
		if text, ok := p.text(part); ok {
			line += " " + compact(text)
		}
	}
	return line
}

// statusCode returns the number of a constant of net/http, or its name if it is unknown.
func statusCode(name string) string {
	exceptions := map[string]int{
		"StatusRequestURITooLong":       http.StatusRequestURITooLong,
		"StatusHTTPVersionNotSupported": http.StatusHTTPVersionNotSupported,
		"StatusProxyAuthRequired":       http.StatusProxyAuthRequired,
	}
	if code := exceptions[name]; code != 0 {
		return strconv.Itoa(code)
	}
	const first, last = 100, 599
	for code := first; code <= last; code++ {
		text := strings.NewReplacer(" ", "", "-", "", "'", "").Replace(http.StatusText(code))
		if text != "" && "Status"+text == name {
			return strconv.Itoa(code)
		}
	}
	return name
}
