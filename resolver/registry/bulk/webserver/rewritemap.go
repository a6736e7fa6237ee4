package webserver

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// RewriteMap reads the text file of a RewriteMap of Apache (mod_rewrite, "txt" and "rnd"): a key and its
// value on each line. Of duplicate keys the first one is used. base is prepended to keys that are not URIs.
func RewriteMap(r io.Reader, base string) ([]Item, error) {
	text, err := readAll(r)
	if err != nil {
		return nil, err
	}
	var items []Item
	first := map[string]int64{}
	number := int64(0)
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		words := strings.Fields(line)
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		i := Item{Line: number, Input: line}
		switch {
		case len(line) > maxLine:
			i.Input, i.Err = line[:100], ErrTooLong
		case len(words) == 1:
			i.Err = errors.New("key without a value")
		case len(words) > 2 && words[2][0] != '#':
			i.Err = errors.New("more than a key and a value: spaces inside them are not supported")
		case first[words[0]] != 0:
			i.Err = fmt.Errorf("duplicate key: the value of line %d applies", first[words[0]])
		default:
			first[words[0]] = number
			i.Entry.Key = registry.Name(keyName(words[0], base))
			values := strings.Split(words[1], "|")
			for _, value := range values {
				i.Entry.Targets = append(i.Entry.Targets, registry.Target{URI: value})
			}
			if len(values) > 1 {
				i.Unmapped = []string{fmt.Sprintf("random selection of one of %d values (rnd): imported as targets "+
					"in their order", len(values))}
			}
		}
		items = append(items, i)
	}
	return items, nil
}

// keyName returns the name of a key, which mod_rewrite compares with a decoded path.
func keyName(key, base string) string {
	if base == "" || isAbsolute(key) {
		return key
	}
	if strings.HasSuffix(base, "/") {
		key = strings.TrimLeft(key, "/")
	}
	return base + EncodedPath(key)
}
