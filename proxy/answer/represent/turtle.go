package represent

import (
	"bytes"
	"strings"
)

// Turtle renders a work as RDF 1.1 Turtle: the same triples as JSONLD.
func Turtle(w Work) []byte {
	n := w.tidied().graph()
	t := &turtle{}
	for _, p := range append(prefixes[:len(prefixes):len(prefixes)], prefix{"schema", schemaBase},
		prefix{"xsd", xsdBase}) {
		t.text("@prefix ", p.name, ": <", p.base, "> .\n")
	}
	t.text("\n")
	if n.id == "" {
		t.text("[]")
	}
	t.subject(n)
	for len(t.later) > 0 {
		n, t.later = t.later[0], t.later[1:]
		t.text("\n")
		t.subject(n)
	}
	return t.out.Bytes()
}

// turtle writes statements.
type turtle struct {
	out   bytes.Buffer
	later []*node // nodes that were referred to, and are written after the current one
}

func (t *turtle) text(texts ...string) {
	for _, text := range texts {
		t.out.WriteString(text)
	}
}

// subject writes a node with its properties, unless it has none.
func (t *turtle) subject(n *node) {
	if len(n.types) == 0 && len(n.properties) == 0 {
		return
	}
	if n.id != "" {
		t.id(n.id)
	}
	t.predicates(n, "\n    ")
	t.text(" .\n")
}

// predicates writes the types and properties of a node, each after a separator.
func (t *turtle) predicates(n *node, separator string) {
	end := separator
	if len(n.types) > 0 {
		t.text(end, "a ")
		for i, name := range n.types {
			if i > 0 {
				t.text(", ")
			}
			t.text(qualified(name))
		}
		end = " ;" + separator
	}
	for _, p := range n.properties {
		t.text(end, qualified(p.term), " ")
		for i, v := range p.values {
			if i > 0 {
				t.text(", ")
			}
			t.value(p.term, v)
		}
		end = " ;" + separator
	}
}

func (t *turtle) value(term string, v value) {
	switch {
	case v.node != nil && v.node.id != "":
		t.id(v.node.id)
		t.later = append(t.later, v.node)
	case v.node != nil:
		t.text("[")
		t.predicates(v.node, " ")
		t.text(" ]")
	case v.isID:
		t.id(v.text)
	default:
		t.text(`"`, escapeTurtle(v.text), `"`)
		if datatype := datatypes[term]; datatype != "" {
			t.text("^^", qualified(datatype))
		}
	}
}

// id writes an IRI, or the label of a blank node. No IRI contains a character that must be escaped: see
// address.
func (t *turtle) id(id string) {
	if strings.HasPrefix(id, "_:") {
		t.text(id)
		return
	}
	t.text("<", id, ">")
}

// qualified returns a term with its prefix.
func qualified(term string) string {
	if strings.Contains(term, ":") {
		return term
	}
	return "schema:" + term
}

// escapeTurtle escapes a quoted text: STRING_LITERAL_QUOTE and ECHAR of Turtle 1.1 section 6.5.
func escapeTurtle(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text)
}
