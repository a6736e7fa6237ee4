package wais

import (
	"errors"
	"fmt"
	"strings"
)

// Queries are of type 1, in Reverse Polish Notation: ISO 23950 section 3.7.

// Attribute types and values of the set bib-1: ISO 23950 appendix ATR.
const (
	attrUse       = 1
	attrStructure = 4

	useTitle       = 4
	useLocalNumber = 12
	useAny         = 1016
	useDocID       = 1032

	structurePhrase = 1
	structureURX    = 104
)

// attribute selects the index that a term is searched in, or how it is matched.
type attribute struct{ kind, value int64 }

// node is a term of a query, or a binary operator.
type node struct {
	term        string
	attributes  []attribute
	operator    uint32 // valid if left and right are set
	left, right *node
}

// Operators.
const (
	operatorAnd    = 0
	operatorOr     = 1
	operatorAndNot = 2
)

// maxTerms is the maximum number of terms of a query, and so of its depth.
const maxTerms = 32

// errQuery is the error for an invalid search.
var errQuery = errors.New("invalid search")

// parseSearch parses a search: words and phrases in double quotes, all of which must match; or a query in
// Prefix Query Format, which starts with "@".
func parseSearch(search string) (*node, error) {
	words, err := splitWords(search)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(strings.TrimSpace(search), "@") {
		return parsePrefix(words)
	}
	var query *node
	for _, w := range words {
		term := &node{term: w.text}
		if w.quoted {
			term.attributes = []attribute{{attrStructure, structurePhrase}}
		}
		if query == nil {
			query = term
			continue
		}
		query = &node{operator: operatorAnd, left: query, right: term}
	}
	if query == nil {
		return nil, fmt.Errorf("%w: no words", errQuery)
	}
	return query, nil
}

type word struct {
	text   string
	quoted bool
}

// splitWords splits at white space outside double quotes.
func splitWords(s string) (words []word, err error) {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		w := word{}
		if w.quoted = s[0] == '"'; w.quoted {
			w.text, s, _ = strings.Cut(s[1:], `"`)
			w.text = strings.TrimSpace(w.text)
		} else {
			end := strings.IndexAny(s, " \t\r\n\"")
			if end < 0 {
				end = len(s)
			}
			w.text, s = s[:end], s[end:]
		}
		if w.text == "" {
			continue
		}
		if words = append(words, w); len(words) > 4*maxTerms {
			return nil, fmt.Errorf("%w: too many words", errQuery)
		}
	}
	return words, nil
}

// with returns a copy of the query in which all terms have additional attributes, before their own.
func (n *node) with(more ...attribute) *node {
	if n.left != nil {
		return &node{operator: n.operator, left: n.left.with(more...), right: n.right.with(more...)}
	}
	return &node{term: n.term, attributes: append(append([]attribute(nil), more...), n.attributes...)}
}

// plain returns a copy of the query without attributes.
func (n *node) plain() *node {
	if n.left != nil {
		return &node{operator: n.operator, left: n.left.plain(), right: n.right.plain()}
	}
	return &node{term: n.term}
}

func (n *node) terms() int {
	if n.left != nil {
		return n.left.terms() + n.right.terms()
	}
	return 1
}

// encode returns the RPNStructure in BER.
func (n *node) encode() []byte {
	if n.left != nil {
		const rpnRpnOp, operator = 1, 46
		return group(contextual, rpnRpnOp, n.left.encode(), n.right.encode(),
			group(contextual, operator, encode(contextual, false, n.operator, nil)))
	}
	const operand, attributesPlusTerm, attributeList, general, kind, numeric = 0, 102, 44, 45, 120, 121
	var list [][]byte
	for _, a := range n.attributes {
		list = append(list, group(universal, tagSequence, number(kind, a.kind), number(numeric, a.value)))
	}
	return group(contextual, operand, group(contextual, attributesPlusTerm,
		group(contextual, attributeList, list...), text(general, n.term)))
}
