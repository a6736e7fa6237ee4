package wais

import (
	"fmt"
	"strconv"
	"strings"
)

// parsePrefix parses a query in the Prefix Query Format of YAZ: "@and @attr 1=4 apple pear". It supports @and,
// @or, @not, and @attr with numbers.
func parsePrefix(words []word) (*node, error) {
	p := prefix{words: words}
	query, err := p.query(nil, maxTerms)
	switch {
	case err != nil:
		return nil, err
	case len(p.words) > 0:
		return nil, fmt.Errorf("%w: %q after the query", errQuery, p.words[0].text)
	case query.terms() > maxTerms:
		return nil, fmt.Errorf("%w: too many words", errQuery)
	}
	return query, nil
}

type prefix struct{ words []word }

func (p *prefix) next() (word, error) {
	if len(p.words) == 0 {
		return word{}, fmt.Errorf("%w: incomplete", errQuery)
	}
	w := p.words[0]
	p.words = p.words[1:]
	return w, nil
}

// query parses a query, whose terms inherit attributes.
func (p *prefix) query(attributes []attribute, depth int) (*node, error) {
	w, err := p.next()
	if err != nil {
		return nil, err
	}
	if depth == 0 {
		return nil, fmt.Errorf("%w: nesting too deep", errQuery)
	}
	if w.quoted || !strings.HasPrefix(w.text, "@") {
		return &node{term: w.text, attributes: attributes}, nil
	}
	switch w.text {
	case "@attr":
		more, err := p.attribute()
		if err != nil {
			return nil, err
		}
		return p.query(append(attributes[:len(attributes):len(attributes)], more), depth-1)
	case "@and":
		return p.operation(operatorAnd, attributes, depth)
	case "@or":
		return p.operation(operatorOr, attributes, depth)
	case "@not":
		return p.operation(operatorAndNot, attributes, depth)
	default:
		return nil, fmt.Errorf("%w: unknown %s", errQuery, w.text)
	}
}

func (p *prefix) operation(operator uint32, attributes []attribute, depth int) (*node, error) {
	left, err := p.query(attributes, depth-1)
	if err != nil {
		return nil, err
	}
	right, err := p.query(attributes, depth-1)
	if err != nil {
		return nil, err
	}
	return &node{operator: operator, left: left, right: right}, nil
}

func (p *prefix) attribute() (attribute, error) {
	w, err := p.next()
	if err != nil {
		return attribute{}, err
	}
	kind, value, _ := strings.Cut(w.text, "=")
	const bits = 31
	k, err := strconv.ParseUint(kind, 10, bits)
	if err != nil {
		return attribute{}, fmt.Errorf("%w: invalid attribute %q", errQuery, w.text)
	}
	v, err := strconv.ParseUint(value, 10, bits)
	if err != nil {
		return attribute{}, fmt.Errorf("%w: invalid attribute %q", errQuery, w.text)
	}
	return attribute{int64(k), int64(v)}, nil
}
