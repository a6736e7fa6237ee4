package source

import (
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlPositions are the positions in a TOML file, by path.
type tomlPositions map[string]Position

func (l tomlPositions) at(path string) Position {
	for {
		if at, ok := l[path]; ok {
			return at
		}
		end := strings.LastIndexByte(path, '.')
		if end < 0 {
			return Position{}
		}
		path = path[:end]
	}
}

// readTOML returns the positions in a TOML file, and the values that are read differently from what was meant.
// It returns nothing for invalid TOML, which the parser of the configuration reports.
func readTOML(text []byte, schema Schema) (tomlPositions, writing) {
	found, written := make(tomlPositions), writing{schema: schema}
	elements := make(map[string]int) // lengths of arrays of tables, by path
	var p unstable.Parser
	p.Reset(text)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		path, at := keyOfTOML(&p, e, table, elements)
		switch e.Kind {
		case unstable.ArrayTable:
			elements[path]++
			found.add(path, at)
			path += "." + strconv.Itoa(elements[path]-1)
			table = path
		case unstable.Table:
			table = path
		}
		found.add(path, at)
		if e.Kind == unstable.KeyValue {
			found.walk(&p, &written, path, e.Value())
		}
	}
	if p.Error() != nil {
		return nil, writing{}
	}
	return found, written
}

// add records the first position of a path.
func (l tomlPositions) add(path string, at Position) {
	if _, ok := l[path]; !ok {
		l[path] = at
	}
}

// keyOfTOML returns the dotted path of an expression, whose keys may go through arrays of tables, and its
// position.
func keyOfTOML(p *unstable.Parser, e *unstable.Node, table string, elements map[string]int) (path string, at Position) {
	if e.Kind == unstable.KeyValue {
		path = table
	}
	for keys := e.Key(); keys.Next(); {
		if n := elements[path]; n > 0 && e.Kind != unstable.KeyValue {
			path += "." + strconv.Itoa(n-1)
		}
		path = strings.TrimPrefix(path+"."+strings.ToLower(string(keys.Node().Data)), ".")
		at = startOf(p, keys.Node())
	}
	return path, at
}

// walk records the positions of the elements of a value: those of arrays, and the keys of inline tables.
func (l tomlPositions) walk(p *unstable.Parser, w *writing, path string, value *unstable.Node) {
	if value.Kind == unstable.Integer {
		w.addNumber(path, l.at(path), string(value.Data))
	}
	children, i := value.Children(), 0
	for children.Next() {
		child := children.Node()
		switch value.Kind {
		case unstable.Array:
			at := path + "." + strconv.Itoa(i)
			i++
			if child.Raw.Length > 0 {
				l[at] = startOf(p, child)
			}
			l.walk(p, w, at, child)
		case unstable.InlineTable:
			key, start := keyOfTOML(p, child, path, nil)
			l[key] = start
			l.walk(p, w, key, child.Value())
		}
	}
}

// startOf returns the position of a node that has source text.
func startOf(p *unstable.Parser, node *unstable.Node) Position {
	start := p.Shape(node.Raw).Start
	return Position{start.Line, start.Column}
}
