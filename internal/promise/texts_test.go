package promise

import (
	"go/ast"
	"strings"
	"testing"
)

// languages are those of the pages, by the functions that return the texts, in the order in which sentences have them.
func languages() []struct{ tag, function string } {
	return []struct{ tag, function string }{
		{"en", "english"}, {"de", "german"}, {"fr", "french"}, {"es", "spanish"}, {"zh", "chinese"},
	}
}

// gatherTexts reads the texts of pages in the source: those with an identifier, and sentences, which have none but
// their English text.
func gatherTexts(t *testing.T, p *program) []string {
	pages := p.source.folder("proxy/pages")
	var lines []string
	pages.inspect(func(n ast.Node) {
		f, ok := n.(*ast.FuncDecl)
		if !ok {
			return
		}
		for _, l := range languages() {
			if f.Name.Name == l.function {
				lines = append(lines, pages.identified(f, l.tag)...)
			}
		}
		if strings.HasSuffix(f.Name.Name, "Sentences") {
			lines = append(lines, pages.sentences(t, f)...)
		}
	})
	return lines
}

// identified returns a line for each field of composite literals in a function whose value is a text.
func (p *sourcePackage) identified(f *ast.FuncDecl, tag string) (lines []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		if field, ok := n.(*ast.KeyValueExpr); ok {
			if text, ok := p.text(field.Value); ok {
				lines = append(lines, "text "+nameOf(field.Key)+" "+tag+" "+compact(text))
			}
		}
		return true
	})
	return lines
}

// sentences returns a line for each translation of each sentence in a function.
func (p *sourcePackage) sentences(t *testing.T, f *ast.FuncDecl) (lines []string) {
	t.Helper()
	ast.Inspect(f, func(n ast.Node) bool {
		row, ok := n.(*ast.CompositeLit)
		if !ok || row.Type != nil {
			return true
		}
		if len(row.Elts) != len(languages()) {
			t.Errorf("a sentence of %s is not in all languages", f.Name.Name)
			return true
		}
		english := ""
		for i, l := range languages() {
			text, ok := p.text(row.Elts[i])
			if !ok {
				t.Errorf("a sentence of %s is not a constant", f.Name.Name)
			}
			if i == 0 {
				english = compact(text)
				lines = append(lines, "sentence "+english)
			} else {
				lines = append(lines, "sentence "+english+" "+l.tag+" "+compact(text))
			}
		}
		return true
	})
	return lines
}
