package config

import (
	"bytes"
	"errors"
	"io"
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

// secondDocument returns the line of the second document of a YAML file, which the parser of
// the configuration would ignore; 0 where that is no YAML. One that is empty is none.
func secondDocument(text []byte) (line int, found bool) {
	documents := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	if documents.Decode(&first) != nil {
		return 0, false
	}
	if err := documents.Decode(&second); err != nil {
		return 0, !errors.Is(err, io.EOF)
	}
	return second.Line, len(second.Content) > 0 && second.Content[0].Tag != "!!null"
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
