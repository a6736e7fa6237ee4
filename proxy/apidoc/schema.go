package apidoc

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/urnd/urnd/proxy/pages"
)

// deepest bounds how deep the properties of properties are shown: what is below is called an object.
const deepest = 3

// property is one of a schema, with those within it.
type property struct {
	Name, Says string
	Type       pages.Content
	IsRequired bool
	Within     []property
}

// typeOf returns the type of a schema in words, with links to the schemas that it refers to.
func typeOf(s *schema) pages.Content {
	switch {
	case s.Ref != "":
		name := string(pages.Escaped(nameOf(s.Ref)))
		return pages.Content(`<a href="#schema-` + name + `">` + name + `</a>`)
	case s.Items != nil:
		return "list of " + typeOf(s.Items)
	case len(s.OneOf)+len(s.AnyOf)+len(s.AllOf) > 0:
		return alternatives(s)
	case len(s.Enum) > 0:
		return pages.Escaped(oneOf(s.Enum))
	case s.Const != nil:
		return pages.Escaped(literal(s.Const))
	}
	return pages.Escaped(plainType(s)) + valuesOf(s)
}

// alternatives returns the types of schemas that are combined.
func alternatives(s *schema) pages.Content {
	all, word := s.OneOf, " or "
	if len(s.AnyOf) > 0 {
		all = s.AnyOf
	}
	if len(s.AllOf) > 0 {
		all, word = s.AllOf, " and "
	}
	types := make([]string, len(all))
	for i := range all {
		types[i] = string(typeOf(&all[i]))
	}
	return pages.Content(strings.Join(types, word))
}

// valuesOf returns the type of the values of an object that may have any members.
func valuesOf(s *schema) pages.Content {
	var values schema
	if len(s.AdditionalProperties) == 0 || s.AdditionalProperties[0] != '{' || json.Unmarshal(s.AdditionalProperties, &values) != nil {
		return ""
	}
	return " of " + typeOf(&values)
}

// plainType returns the type of a schema with its bounds.
func plainType(s *schema) string {
	var words []string
	switch t := s.Type.(type) {
	case string:
		words = append(words, t)
	case []any:
		for i, one := range t {
			if i > 0 {
				words = append(words, "or")
			}
			words = append(words, fmt.Sprint(one))
		}
	default:
		words = append(words, "anything")
	}
	if s.Format != "" {
		words = append(words, "("+s.Format+")")
	}
	for _, bound := range [...]struct {
		word  string
		value json.Number
	}{{"from", s.Minimum}, {"to", s.Maximum}, {"of at most", s.MaxLength}} {
		if bound.value != "" {
			words = append(words, bound.word+" "+bound.value.String())
		}
	}
	if s.Default != nil {
		words = append(words, "(default "+literal(s.Default)+")")
	}
	if s.ReadOnly {
		words = append(words, "(read-only)")
	}
	return strings.Join(words, " ")
}

func oneOf(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = literal(v)
	}
	return strings.Join(words, " | ")
}

// literal returns a value as JSON has it.
func literal(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(s)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// propertiesOf returns the properties of a schema, and of what its lists have, down to a depth.
func propertiesOf(s *schema, depth int) []property {
	for s.Items != nil {
		s = s.Items
	}
	if depth == 0 || s.Ref != "" {
		return nil
	}
	var all []property
	for i := range s.Properties {
		m := &s.Properties[i]
		p := property{Name: m.name, Says: m.value.Description, Type: typeOf(&m.value), Within: propertiesOf(&m.value, depth-1)}
		for _, name := range s.Required {
			p.IsRequired = p.IsRequired || name == m.name
		}
		all = append(all, p)
	}
	return all
}

// references calls add with each schema that one refers to, itself and in what is within it.
func references(s *schema, add func(name string)) {
	if s == nil {
		return
	}
	if name := nameOf(s.Ref); name != "" {
		add(name)
	}
	references(s.Items, add)
	for i := range s.Properties {
		references(&s.Properties[i].value, add)
	}
	for _, list := range [...][]schema{s.OneOf, s.AnyOf, s.AllOf} {
		for i := range list {
			references(&list[i], add)
		}
	}
	var values schema
	if len(s.AdditionalProperties) > 0 && s.AdditionalProperties[0] == '{' && json.Unmarshal(s.AdditionalProperties, &values) == nil {
		references(&values, add)
	}
}
