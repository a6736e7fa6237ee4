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

// lines are the line numbers of the keys of a file, by dotted path.
type lines interface {
	// line returns the line of path, or of the nearest table or list around it; 0 if none is in the file.
	line(path string) int
}

// yamlLines are those of a YAML file, looked for in its tree: few are ever asked for, and a file may have very many.
type yamlLines struct {
	root *yaml.Node // nil for none
}

func (l yamlLines) line(path string) int {
	if l.root == nil {
		return 0
	}
	line, _ := lineIn(l.root, path)
	return line
}

// lineIn returns the line in a node of as much of a path as there is, and how many octets of it that is.
func lineIn(node *yaml.Node, path string) (line, found int) {
	look := func(key string, at int, value *yaml.Node) {
		rest, ok := strings.CutPrefix(path, key)
		if !ok || rest != "" && rest[0] != '.' || len(key) < found || len(key) == 0 {
			return
		}
		line, found = at, len(key)
		if rest == "" {
			return
		}
		if inner, length := lineIn(value, rest[1:]); length > 0 {
			line, found = inner, len(key)+1+length
		}
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 { // a key may have dots
			look(strings.ToLower(node.Content[i].Value), node.Content[i].Line, node.Content[i+1]) // viper makes keys lower case
		}
	case yaml.SequenceNode:
		key, _, _ := strings.Cut(path, ".")
		if i, err := strconv.Atoi(key); err == nil && 0 <= i && i < len(node.Content) {
			look(key, node.Content[i].Line, node.Content[i])
		}
	}
	return line, found
}

// yamlFile is a YAML file, parsed once.
type yamlFile struct {
	root    *yaml.Node // of the first document, nil where it is empty
	message string     // what is wrong behind it, "" for nothing
	line    int        // of that; 0 where it is not known
}

func parseYAML(text []byte) (yamlFile, error) {
	documents := yaml.NewDecoder(bytes.NewReader(text))
	var first yaml.Node
	if err := documents.Decode(&first); errors.Is(err, io.EOF) {
		return yamlFile{}, nil
	} else if err != nil {
		return yamlFile{}, err
	}
	file := yamlFile{}
	if len(first.Content) > 0 {
		file.root = first.Content[0]
	}
	file.message, file.line = afterDocument(documents, text)
	return file, nil
}

// afterDocument says what is wrong behind the first document of a YAML file, which would be ignored, and in which line; 0
// where that is not known. A second document that is empty is none.
func afterDocument(documents *yaml.Decoder, text []byte) (message string, line int) {
	const second = `a second YAML document, after "---": all settings are in one`
	var next yaml.Node
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
