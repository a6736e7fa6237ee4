package config

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// lines are the line numbers of the keys of a YAML file, by dotted path.
type lines map[string]int

// linesOf returns none for invalid YAML: the parser of the configuration reports it.
func linesOf(text []byte) lines {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
		return nil
	}
	found := make(lines)
	found.walk("", document.Content[0])
	return found
}

func (l lines) walk(prefix string, node *yaml.Node) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := prefix + strings.ToLower(node.Content[i].Value) // viper makes keys lower case
			l[key] = node.Content[i].Line
			l.walk(key+".", node.Content[i+1])
		}
	case yaml.SequenceNode:
		for i, child := range node.Content {
			key := prefix + strconv.Itoa(i)
			l[key] = child.Line
			l.walk(key+".", child)
		}
	}
}

// line returns the line of path, or of the nearest table or list around it; 0 if none is
// in the file.
func (l lines) line(path string) int {
	for {
		if line, ok := l[path]; ok {
			return line
		}
		end := strings.LastIndexByte(path, '.')
		if end < 0 {
			return 0
		}
		path = path[:end]
	}
}
