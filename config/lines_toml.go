package config

import (
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlLines are the lines of a TOML file.
type tomlLines map[string]int

func (l tomlLines) line(path string) int {
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

// readTOML returns the lines of a TOML file, and what is not meant so; none for what is no TOML: the parser of the configuration
// reports it.
func readTOML(text []byte) (tomlLines, writing) {
	found, written := make(tomlLines), writing{}
	elements := make(map[string]int) // of arrays of tables, by their path
	var p unstable.Parser
	p.Reset(text)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		path, line := keyOfTOML(&p, e, table, elements)
		switch e.Kind {
		case unstable.ArrayTable:
			elements[path]++
			found.addTOML(path, line)
			path += "." + strconv.Itoa(elements[path]-1)
			table = path
		case unstable.Table:
			table = path
		}
		found.addTOML(path, line)
		if e.Kind == unstable.KeyValue {
			found.walkTOML(&p, &written, path, e.Value())
		}
	}
	if p.Error() != nil {
		return nil, writing{}
	}
	return found, written
}

// addTOML records where a path is first.
func (l tomlLines) addTOML(path string, line int) {
	if _, ok := l[path]; !ok {
		l[path] = line
	}
}

// keyOfTOML returns the dotted path of an expression, whose keys may lead through arrays of tables, and its line.
func keyOfTOML(p *unstable.Parser, e *unstable.Node, table string, elements map[string]int) (path string, line int) {
	if e.Kind == unstable.KeyValue {
		path = table
	}
	for keys := e.Key(); keys.Next(); {
		if n := elements[path]; n > 0 && e.Kind != unstable.KeyValue {
			path += "." + strconv.Itoa(n-1)
		}
		path = strings.TrimPrefix(path+"."+strings.ToLower(string(keys.Node().Data)), ".")
		line = p.Shape(keys.Node().Raw).Start.Line
	}
	return path, line
}

// walkTOML records the lines of the elements of a value: those of arrays, and the keys of inline tables.
func (l tomlLines) walkTOML(p *unstable.Parser, written *writing, path string, value *unstable.Node) {
	if value.Kind == unstable.Integer {
		written.addNumber(path, l.line(path), string(value.Data))
	}
	children, i := value.Children(), 0
	for children.Next() {
		child := children.Node()
		switch value.Kind {
		case unstable.Array:
			at := path + "." + strconv.Itoa(i)
			i++
			if child.Raw.Length > 0 {
				l[at] = p.Shape(child.Raw).Start.Line
			}
			l.walkTOML(p, written, at, child)
		case unstable.InlineTable:
			key, line := keyOfTOML(p, child, path, nil)
			l[key] = line
			l.walkTOML(p, written, key, child.Value())
		}
	}
}
