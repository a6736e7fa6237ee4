package config

import (
	"bytes"
	"errors"
	"fmt"
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

// afterDocument says what is wrong behind the first document of a YAML file, which the parser of the configuration would
// ignore, and in which line; 0 where that is not known. A second document that is empty is none.
func afterDocument(text []byte) (message string, line int) {
	const second = `a second YAML document, after "---": all settings are in one`
	documents := yaml.NewDecoder(bytes.NewReader(text))
	var first, next yaml.Node
	if documents.Decode(&first) != nil {
		return "", 0
	}
	err := documents.Decode(&next)
	switch beginning, less := lessIndented(text); {
	case err != nil && !errors.Is(err, io.EOF) && less > 0:
		return fmt.Sprintf("the line has less indentation than line %d: write its section above line %[1]d, or begin both at the "+
			"start of the line", beginning), less
	case err != nil && !errors.Is(err, io.EOF):
		return second, 0
	case len(next.Content) > 0 && next.Content[0].Tag != "!!null":
		return second, next.Line
	}
	return "", 0
}

// lessIndented returns the first line of a text, and the first one behind it with less indentation; 0 where there is none.
func lessIndented(text []byte) (first, less int) {
	n, most := 0, 0
	for line := range strings.Lines(string(text)) {
		n++
		content := strings.TrimLeft(line, " ")
		if plain := strings.TrimSpace(content); plain == "" || plain[0] == '#' || plain == "---" {
			continue
		}
		indentation := len(line) - len(content)
		if first == 0 {
			first, most = n, indentation
		}
		if indentation < most {
			return first, n
		}
	}
	return first, 0
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
