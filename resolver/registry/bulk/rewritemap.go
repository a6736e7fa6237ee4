package bulk

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// rewriteMap reads the text file of a RewriteMap of Apache (mod_rewrite, "txt" and "rnd"): a key and what it is mapped to on
// each line.
type rewriteMap struct {
	*textLines
	base string
}

func (m *rewriteMap) next() (*item, error) {
	for {
		l, err := m.textLines.next()
		if err != nil {
			return nil, err
		}
		words := strings.Fields(l.text)
		switch {
		case l.fault != nil:
			return rejected(l.number, l.text, "%w", l.fault), nil //nolint:nilerr // the line is rejected by it
		case len(words) == 0 || words[0][0] == '#':
			continue
		case len(words) == 1:
			return rejected(l.number, l.text, "it has a key and no value"), nil
		case len(words) > 2 && words[2][0] != '#':
			return rejected(l.number, l.text, "it has more than a key and a value: spaces in them cannot be told from what divides them"), nil
		}
		i := newItem(l.number, l.text)
		i.entry.Name = m.name(words[0])
		values := strings.Split(words[1], "|")
		for _, value := range values {
			i.to(registry.Target{URI: value})
		}
		if len(values) > 1 {
			i.lose("one of its %d values was taken at random (rnd): they are targets in their order", len(values))
		}
		return i, nil
	}
}

// name returns the name of a key, which mod_rewrite compares with a path after decoding.
func (m *rewriteMap) name(key string) string {
	if m.base == "" || isAbsolute(key) {
		return key
	}
	return below(m.base, encodedPath(key))
}

// encodedPath encodes what a path of a URI may not have (RFC 3986 section 3.3).
func encodedPath(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// badDirective is a directive of a web server that says nothing that a registry can have.
func badDirective(number int64, text, name string) *item {
	return rejected(number, text, "%s has nothing like it in the registry", fmt.Sprintf("%.40q", name))
}
