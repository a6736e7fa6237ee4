package represent

import (
	"bytes"
	"encoding/json"
)

// schemaContext is the context of schema.org. Harvesters look for it.
const schemaContext = "https://schema.org"

// JSONLD renders a work as an object of JSON-LD 1.1. Its contexts are that of schema.org, and one for the
// other vocabularies. It is safe inside a script element of HTML: it contains no <, > and &.
func JSONLD(w Work) []byte {
	o := ordered{{"@context", []any{schemaContext, context()}}}
	return marshal(append(o, w.tidied().graph().object()...))
}

// context returns the context of all terms that are not of schema.org.
func context() ordered {
	var c ordered
	for _, p := range prefixes {
		c = append(c, member{p.name, p.base})
	}
	return append(c, member{"xsd", xsdBase}, member{"urnd:since", ordered{{"@type", datatypes["urnd:since"]}}})
}

// object returns a node as a JSON object.
func (n *node) object() ordered {
	var o ordered
	if len(n.types) == 1 {
		o = append(o, member{"@type", n.types[0]})
	} else if len(n.types) > 1 {
		o = append(o, member{"@type", n.types})
	}
	if n.id != "" {
		o = append(o, member{"@id", n.id})
	}
	for _, p := range n.properties {
		var all []any
		for _, v := range p.values {
			all = append(all, v.json(p.term))
		}
		if p.many {
			o = append(o, member{p.term, all})
		} else {
			o = append(o, member{p.term, all[0]})
		}
	}
	return o
}

func (v value) json(term string) any {
	switch {
	case v.node != nil:
		return v.node.object()
	case v.isID && !isIRIInContext(term):
		return ordered{{"@id", v.text}}
	default:
		return v.text
	}
}

// isIRIInContext reports whether the context of schema.org interprets strings of a term as IRIs. These terms
// have no other strings.
func isIRIInContext(term string) bool {
	switch term {
	case "url", "sameAs", "contentUrl", "license":
		return true
	default:
		return false
	}
}

// ordered is a JSON object with ordered members.
type ordered []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o ordered) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, name...), ':'), text...)
	}
	return append(b, '}'), nil
}

// marshal returns indented JSON with a line end. v must contain only values that JSON can represent.
func marshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return []byte("{}\n")
	}
	var b bytes.Buffer
	_ = json.Indent(&b, text, "", " ") // it is valid
	b.WriteByte('\n')
	return b.Bytes()
}
