package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlPositions finds positions in the tree of a YAML file on demand: few are needed, and a file may have very
// many.
type yamlPositions struct {
	root *yaml.Node
}

func (p yamlPositions) at(path string) Position {
	at, _ := positionIn(p.root, path)
	return at
}

// positionIn returns the position in a node of the longest prefix of a path that exists, and the length of that
// prefix in bytes.
func positionIn(node *yaml.Node, path string) (at Position, found int) {
	look := func(key string, written, value *yaml.Node) {
		rest, ok := strings.CutPrefix(path, key)
		if !ok || rest != "" && rest[0] != '.' || len(key) < found || len(key) == 0 {
			return
		}
		at, found = Position{written.Line, written.Column}, len(key)
		if rest == "" {
			return
		}
		if inner, length := positionIn(value, rest[1:]); length > 0 {
			at, found = inner, len(key)+1+length
		}
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 { // a key may contain dots
			// viper converts keys to lower case.
			look(strings.ToLower(node.Content[i].Value), node.Content[i], node.Content[i+1])
		}
	case yaml.SequenceNode:
		key, _, _ := strings.Cut(path, ".")
		if i, err := strconv.Atoi(key); err == nil && 0 <= i && i < len(node.Content) {
			look(key, node.Content[i], node.Content[i])
		}
	}
	return at, found
}

// yamlFile is a parsed YAML file.
type yamlFile struct {
	root    *yaml.Node // of the first document; nil if it is empty
	message string     // error after the first document, "" for none
	at      Position   // position of message
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
	file.message, file.at = afterDocument(documents, text)
	return file, nil
}

// afterDocument returns a message, and its position, if anything follows the first document of a YAML file,
// which would be ignored. An empty second document is allowed.
func afterDocument(documents *yaml.Decoder, text []byte) (message string, at Position) {
	const second = `a second YAML document, after "---": all settings are in one`
	var next yaml.Node
	err := documents.Decode(&next)
	switch beginning, less := lessIndented(text); {
	case err != nil && !errors.Is(err, io.EOF) && less > 0:
		return fmt.Sprintf("the line has less indentation than line %d: write its section above line %[1]d, or "+
			"begin both at the "+
			"start of the line", beginning), Position{Line: less, Column: 1}
	case err != nil && !errors.Is(err, io.EOF):
		return second, Position{}
	case len(next.Content) > 0 && next.Content[0].Tag != "!!null":
		return second, Position{next.Line, next.Column}
	}
	return "", Position{}
}

// lessIndented returns the numbers of the first line of a text, and of the first later one with less
// indentation; 0 for none.
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

// withoutValue returns the paths below a node of keys without a value, such as those of lists that were
// commented out.
func withoutValue(node *yaml.Node) []string {
	var found []string
	add := func(key string, child *yaml.Node) {
		if child.Tag == "!!null" {
			found = append(found, key)
			return
		}
		for _, below := range withoutValue(child) {
			found = append(found, key+"."+below)
		}
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			add(strings.ToLower(node.Content[i].Value), node.Content[i+1])
		}
	case yaml.SequenceNode:
		for i, child := range node.Content {
			add(strconv.Itoa(i), child)
		}
	}
	return found
}
