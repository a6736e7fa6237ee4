package squidconf

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// order is the order of sections in the file.
const order = "listen tls dns cache access proxy limits log"

// newTable returns an empty YAML mapping with head comments.
func newTable(comments ...string) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, HeadComment: strings.Join(comments, "\n")}
}

// find returns the index of the value of a key in table.Content, -1 if there is none.
func find(table *yaml.Node, key string) int {
	for i := 0; i < len(table.Content); i += 2 {
		if table.Content[i].Value == key {
			return i + 1
		}
	}
	return -1
}

// put is set, except that it omits 0, "" and empty lists, which mean the default.
func put(table *yaml.Node, key string, value any, comments ...string) {
	if texts, ok := value.([]string); value != "" && value != uint64(0) && (!ok || len(texts) > 0) {
		set(table, key, value, comments...)
	}
}

// set sets a value in a table, with head comments. It replaces an existing value, because the last directive
// wins.
func set(table *yaml.Node, key string, value any, comments ...string) {
	var node *yaml.Node
	switch v := value.(type) {
	case *yaml.Node:
		node = v
	case []*yaml.Node:
		node = &yaml.Node{Kind: yaml.SequenceNode, Content: v}
	case []string:
		node = sequence(v)
		if long := len(strings.Join(v, ", ")) > 100; long {
			node.Style = 0
		}
	default:
		node = scalar(v)
	}
	name := &yaml.Node{Kind: yaml.ScalarNode, Value: key, HeadComment: strings.Join(comments, "\n")}
	if at := find(table, key); at >= 0 {
		table.Content[at-1], table.Content[at] = name, node
		return
	}
	table.Content = append(table.Content, name, node)
}

// sequence returns a list in flow style.
func sequence[T string | uint64](values []T) *yaml.Node {
	node := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, value := range values {
		node.Content = append(node.Content, scalar(value))
	}
	return node
}

// scalar returns a scalar, quoted if YAML requires it.
func scalar(value any) *yaml.Node {
	if text, ok := value.(string); ok {
		value = strings.ToValidUTF8(text, "?")
	}
	node := new(yaml.Node)
	_ = node.Encode(value) // strings, numbers and booleans never fail
	return node
}

// document is a configuration of urnd.
type document struct{ root *yaml.Node }

// set sets a value of a section, with head comments.
func (d *document) set(path string, value any, comments ...string) {
	name, key, _ := strings.Cut(path, ".")
	if find(d.root, name) < 0 {
		set(d.root, name, newTable())
	}
	set(d.root.Content[find(d.root, name)], key, value, comments...)
}

// text returns the file.
func (d *document) text() (string, error) {
	sorted := newTable()
	for name := range strings.FieldsSeq(order) {
		if at := find(d.root, name); at >= 0 {
			set(sorted, name, d.root.Content[at])
		}
	}
	var all strings.Builder
	encoder := yaml.NewEncoder(&all)
	encoder.SetIndent(2)
	err := encoder.Encode(sorted)
	return all.String(), err
}

// Plain returns a text as one line of bounded length, without control characters.
func Plain(text string) string {
	const most = 400
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffd ||
			r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + " ..."
	}
	return text
}
