package config

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// places are the lines of a YAML file on which keys stand, by dotted path.
type places map[string]int

// placesOf returns none for what is no YAML: whoever reads it says so.
func placesOf(text []byte) places {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
		return nil
	}
	found := make(places)
	found.walk("", document.Content[0])
	return found
}

func (p places) walk(prefix string, node *yaml.Node) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := prefix + strings.ToLower(node.Content[i].Value) // as viper has them
			p[key] = node.Content[i].Line
			p.walk(key+".", node.Content[i+1])
		}
	case yaml.SequenceNode:
		for i, child := range node.Content {
			key := prefix + strconv.Itoa(i)
			p[key] = child.Line
			p.walk(key+".", child)
		}
	}
}

// line returns that of path, or of the table or list that it would stand in; 0 where
// nothing of it is in the file.
func (p places) line(path string) int {
	for {
		if line, ok := p[path]; ok {
			return line
		}
		end := strings.LastIndexByte(path, '.')
		if end < 0 {
			return 0
		}
		path = path[:end]
	}
}
