package promise

import (
	"go/ast"
	"strings"
	"testing"
)

// gatherTexts reads the texts of pages in the source: the identifier and the English text of each, and the English of
// sentences that have no identifier. Translations may change.
func gatherTexts(t *testing.T, p *program) []string {
	pages := p.source.folder("proxy/pages")
	var lines []string
	pages.inspect(func(n ast.Node) {
		f, ok := n.(*ast.FuncDecl)
		if !ok {
			return
		}
		switch {
		case f.Name.Name == "english":
			lines = append(lines, pages.fields(f, "text ")...)
		case strings.HasSuffix(f.Name.Name, "Sentences"):
			ast.Inspect(f, func(n ast.Node) bool {
				row, ok := n.(*ast.CompositeLit)
				if !ok || row.Type != nil || len(row.Elts) == 0 {
					return true
				}
				english, ok := pages.text(row.Elts[0])
				if !ok {
					t.Errorf("a sentence of %s is not a constant", f.Name.Name)
				}
				lines = append(lines, "sentence "+compact(english))
				return true
			})
		}
	})
	return lines
}

// fields returns a line for each field of composite literals below a node whose value is a text.
func (p *sourcePackage) fields(below ast.Node, prefix string) (lines []string) {
	ast.Inspect(below, func(n ast.Node) bool {
		if field, ok := n.(*ast.KeyValueExpr); ok {
			if text, ok := p.text(field.Value); ok {
				lines = append(lines, prefix+nameOf(field.Key)+" "+compact(text))
			}
		}
		return true
	})
	return lines
}
