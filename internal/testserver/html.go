package testserver

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Element is an element of an HTML document, or the document itself. It gives access to the content
// independently of the spelling of the markup.
type Element struct{ node *html.Node }

// ParseHTML parses a document like browsers.
func ParseHTML(text string) Element {
	document, _ := html.Parse(strings.NewReader(text)) // accepts any text
	return Element{document}
}

// Exists reports whether the element exists.
func (e Element) Exists() bool { return e.node != nil }

// All returns the elements with a name within e, in document order. attributes are required attributes:
// "class=fields", or "checked" for any value.
func (e Element) All(name string, attributes ...string) (found []Element) {
	if e.node == nil {
		return nil
	}
	for n := range e.node.Descendants() {
		if n.Type == html.ElementNode && n.Data == name && hasAll(n, attributes) {
			found = append(found, Element{n})
		}
	}
	return found
}

// First returns the first element of All, or one that does not exist.
func (e Element) First(name string, attributes ...string) Element {
	if found := e.All(name, attributes...); len(found) > 0 {
		return found[0]
	}
	return Element{}
}

func hasAll(n *html.Node, attributes []string) bool {
	for _, want := range attributes {
		name, value, hasValue := strings.Cut(want, "=")
		if !slices.ContainsFunc(n.Attr,
			func(a html.Attribute) bool { return a.Key == name && (!hasValue || a.Val == value) }) {
			return false
		}
	}
	return true
}

// Attr returns an attribute, or "".
func (e Element) Attr(name string) string {
	if e.node != nil {
		for _, a := range e.node.Attr {
			if a.Key == name {
				return a.Val
			}
		}
	}
	return ""
}

// Texts returns the visible texts within e, each between two tags, without surrounding white space.
func (e Element) Texts() (texts []string) {
	if e.node == nil {
		return nil
	}
	for n := range e.node.Descendants() {
		if n.Type != html.TextNode || n.Parent.Data == "style" || n.Parent.Data == "script" {
			continue
		}
		if text := strings.Join(strings.Fields(n.Data), " "); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// Text returns the texts within e on one line.
func (e Element) Text() string { return strings.Join(e.Texts(), " ") }

// Fields returns the form data set of e as submitted by a browser without a submit button: with CRLF line ends,
// also in hidden fields (HTML, section 4.10.21.4).
func (e Element) Fields() url.Values {
	fields := make(url.Values)
	add := func(field Element, value string) {
		fields.Add(field.Attr("name"), strings.ReplaceAll(value, "\n", "\r\n"))
	}
	for _, input := range e.All("input", "name") {
		if input.Attr("type") != "checkbox" || hasAll(input.node, []string{"checked"}) {
			add(input, input.Attr("value"))
		}
	}
	for _, area := range e.All("textarea", "name") {
		add(area, area.raw())
	}
	for _, list := range e.All("select", "name") {
		option := list.First("option", "selected")
		if !option.Exists() {
			option = list.First("option")
		}
		value := option.Text()
		if option.Exists() && hasAll(option.node, []string{"value"}) {
			value = option.Attr("value")
		}
		add(list, value)
	}
	return fields
}

// raw returns the unmodified text within e.
func (e Element) raw() string {
	var text strings.Builder
	for n := range e.node.Descendants() {
		if n.Type == html.TextNode {
			text.WriteString(n.Data)
		}
	}
	return text.String()
}
