package testserver

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// OwnTexts returns the texts of a page in its own language, including texts in attributes. It excludes code
// (code), texts by others (bdi), and texts in another language (lang).
func OwnTexts(t testing.TB, page string) (texts []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		switch {
		case isForeign(n):
		case n.Type == html.TextNode:
			texts = append(texts, strings.TrimSpace(n.Data))
		default:
			for _, a := range n.Attr {
				if a.Key == "aria-label" || a.Key == "title" || a.Key == "placeholder" ||
					strings.HasPrefix(a.Key, "data-") {
					texts = append(texts, a.Val)
				}
			}
		}
	}
	return texts
}

// isForeign reports whether a node is in an element whose text is excluded.
func isForeign(n *html.Node) bool {
	for of := n; of != nil && of.Data != "html"; of = of.Parent {
		marked := slices.ContainsFunc(of.Attr, func(a html.Attribute) bool { return a.Key == "lang" })
		if of.Type == html.ElementNode &&
			(marked || slices.Contains([]string{"code", "bdi", "style", "script", "noscript"}, of.Data)) {
			return true
		}
	}
	return false
}
