package bulk

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// nginx reads the redirects of a configuration of nginx: blocks map, rewrite, and locations with return.
type nginx struct {
	r        *bufio.Reader
	base     string
	line     int64
	blocks   [][]string        // that are open: the words that they begin with
	variable map[string]string // as our own export sets one: geo $x { default "..."; }
	queue    []*item
}

// maxBlocks is how deep the blocks may be.
const maxBlocks = 32

func newNginx(r io.Reader, base string) *nginx {
	return &nginx{r: bufio.NewReaderSize(r, 64<<10), base: base, line: 1, variable: map[string]string{}}
}

func (n *nginx) next() (*item, error) {
	for len(n.queue) == 0 {
		if err := n.statement(); err != nil {
			return nil, err
		}
	}
	next := n.queue[0]
	n.queue = n.queue[1:]
	return next, nil
}

// statement reads what ends at a semicolon or a brace.
func (n *nginx) statement() error {
	words, end, line, err := n.words()
	switch {
	case err != nil:
		return err
	case end == '{':
		if len(n.blocks) == maxBlocks {
			return errors.New("the blocks of the configuration are too deep")
		}
		n.blocks = append(n.blocks, words)
		return nil
	case end == '}':
		n.blocks = n.blocks[:max(len(n.blocks)-1, 0)]
		return nil
	case len(words) == 0:
		return nil
	}
	text := strings.Join(words, " ") + ";"
	made, err := n.directive(line, text, words)
	if err != nil {
		made = []*item{rejected(line, text, "%w", err)}
	}
	n.queue = append(n.queue, made...)
	return nil
}

// directive makes the names of a directive in the block that is open.
func (n *nginx) directive(line int64, text string, words []string) ([]*item, error) {
	var in []string
	if len(n.blocks) > 0 {
		in = n.blocks[len(n.blocks)-1]
	}
	kind := ""
	if len(in) > 0 {
		kind = in[0]
	}
	switch {
	case kind == "geo" && len(in) == 2 && words[0] == "default" && len(words) == 2:
		n.variable[strings.TrimPrefix(in[1], "$")] = words[1]
		return nil, nil
	case kind == "map":
		return n.entry(line, text, words)
	case words[0] == "rewrite" && len(words) >= 3:
		return n.rewrite(line, text, words)
	case kind == "location" && words[0] == "return":
		return n.returned(line, text, in[1:], words[1:])
	case slices.Contains([]string{"if", "return", "proxy_pass", "include", "try_files", "root", "alias"}, words[0]):
		return nil, errors.New("the directive has nothing like it in the registry")
	default:
		return nil, nil // of the server
	}
}

// entry makes the names of a line of a map.
func (n *nginx) entry(line int64, text string, words []string) ([]*item, error) {
	switch {
	case len(words) == 1 && (words[0] == "volatile" || words[0] == "hostnames"):
		return nil, nil
	case words[0] == "include":
		return nil, errors.New("import the file that is included by itself, within the braces of a map")
	case len(words) != 2:
		return nil, errors.New("a line of a map has a key and a value")
	case words[1] == "":
		return nil, nil // it leads nowhere
	case words[0] == "default":
		return nil, errors.New("what all other paths lead to cannot be said in a registry")
	}
	to := redirection{base: n.base, variables: n.variable}
	value, isGone := words[1], words[1] == "410"
	if expression, ok := strings.CutPrefix(words[0], "~"); ok {
		if any, ok := strings.CutPrefix(expression, "*"); ok {
			expression = "(?i)" + any
		}
		return to.items(line, text, n.slashless(expression), value, isGone)
	}
	key := strings.TrimPrefix(words[0], `\`)
	return to.items(line, text, "^"+regexp.QuoteMeta(n.slashless(key))+"$", value, isGone)
}

// slashless removes the slash that paths begin with where names have no path before them.
func (n *nginx) slashless(key string) string {
	if n.base != "" {
		return key
	}
	for _, anchor := range []string{"", "^", "(?i)^"} {
		if rest, ok := strings.CutPrefix(key, anchor+"/"); ok {
			return anchor + rest
		}
	}
	return key
}

// rewrite makes the names of a rewrite.
func (n *nginx) rewrite(line int64, text string, words []string) ([]*item, error) {
	to := redirection{base: n.base, variables: n.variable}
	switch flag := append(words, "")[3]; flag {
	case "permanent":
		to.status = "301"
	case "redirect", "":
	default:
		return nil, errors.New("it redirects within the server")
	}
	return to.items(line, text, n.slashless(words[1]), strings.TrimSuffix(words[2], "?"), false)
}

// returned makes the name of a return in a location.
func (n *nginx) returned(line int64, text string, location, words []string) ([]*item, error) {
	to := redirection{base: n.base, variables: n.variable}
	target := words[len(words)-1]
	if len(words) == 2 || !isAbsolute(target) {
		status, err := statusNumber(words[0])
		if err != nil {
			return nil, err
		}
		to.status = status
	}
	isGone := to.status == "410"
	switch {
	case len(location) == 2 && location[0] == "=":
		return to.items(line, text, "^"+regexp.QuoteMeta(n.slashless(location[1]))+"$", target, isGone)
	case len(location) == 2 && location[0] == "~":
		return to.items(line, text, n.slashless(location[1]), target, isGone)
	case len(location) == 1 && isGone:
		i := newItem(line, text)
		i.entry.Key = registry.Prefix(below(n.base, n.slashless(location[0])))
		i.is(registry.Withdrawn, gone)
		return []*item{i}, nil
	case len(location) == 1 && strings.HasSuffix(target, "$request_uri"):
		i := newItem(line, text)
		i.entry.Key = registry.Prefix(below(n.base, n.slashless(location[0])))
		i.to(registry.Target{URI: strings.TrimSuffix(target, "$request_uri") + location[0]})
		to.carry(i)
		to.lose(i)
		return []*item{i}, nil
	default:
		return nil, errOneTarget
	}
}
