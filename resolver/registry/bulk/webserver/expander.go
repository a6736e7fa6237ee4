package webserver

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// expander expands an expression into alternative sequences of pieces.
type expander struct {
	odd bool // the expression has an operator that pieces cannot express
}

// literal expands a literal, with all its spellings if it is case-insensitive.
func (x *expander) literal(e *syntax.Regexp) [][]piece {
	if e.Flags&syntax.FoldCase == 0 {
		return [][]piece{{{text: bytesOf(e.Rune)}}}
	}
	all := []string{""}
	for _, c := range strings.ToLower(bytesOf(e.Rune)) {
		var next []string
		for _, before := range all {
			next = append(next, before+string(c))
			if 'a' <= c && c <= 'z' {
				next = append(next, before+strings.ToUpper(string(c)))
			}
		}
		if all = next; len(all) > maxSpellings {
			return x.spellings(e)
		}
	}
	var pieces [][]piece
	for _, text := range all {
		pieces = append(pieces, []piece{{text: text}})
	}
	return pieces
}

// spellings expands a long case-insensitive literal into its usual spellings, in lower case, in upper case
// and capitalized, and a stray piece for all others.
func (x *expander) spellings(e *syntax.Regexp) [][]piece {
	lower := strings.ToLower(bytesOf(e.Rune))
	return [][]piece{
		{{text: lower}},
		{{text: strings.ToUpper(lower)}},
		{{text: strings.ToUpper(lower[:1]) + lower[1:]}},
		{{many: e, stray: true}},
	}
}

// class expands a small class into its characters.
func class(e *syntax.Regexp) (all [][]piece) {
	for i := 0; i < len(e.Rune); i += 2 {
		for c := e.Rune[i]; c <= min(e.Rune[i+1], 0xff); c++ {
			if all = append(all, []piece{{text: bytesOf([]rune{c})}}); len(all) > maxClass {
				return [][]piece{{{many: e}}}
			}
		}
	}
	return all
}

// anything returns a piece that matches all texts.
func anything() piece {
	return piece{many: &syntax.Regexp{Op: syntax.OpStar, Sub: []*syntax.Regexp{{Op: syntax.OpAnyChar}}}}
}

// anchors removes the anchors of a sequence, and adds a piece that matches all texts at an end without
// anchor. ok is false if an anchor is in the middle.
func anchors(pieces []piece) (all []piece, ok bool) { //nolint:cyclop // the two ends of an expression
	begins, ends, ok := false, false, true
	isText := func(p piece) bool { return p.text != "" || p.many != nil }
	for _, p := range pieces {
		switch {
		case p.anchor == syntax.OpBeginText:
			ok = ok && !slices.ContainsFunc(all, isText)
			begins = true
			continue
		case p.anchor == syntax.OpEndText:
			ends = true
			continue
		case ends && isText(p):
			ok = false
		}
		all = append(all, p)
	}
	if first := slices.IndexFunc(all, isText); !begins && (first < 0 || !all[first].takesAll()) {
		all = slices.Insert(all, 0, anything())
	}
	last := len(all) - 1
	for last >= 0 && !isText(all[last]) {
		last--
	}
	if !ends && (last < 0 || !all[last].takesAll()) {
		all = append(all, anything())
	}
	return all, ok
}

// takesAll reports whether a piece is a greedy match of any bytes.
func (p piece) takesAll() bool {
	return p.many != nil && (p.many.Op == syntax.OpStar || p.many.Op == syntax.OpPlus) &&
		p.many.Flags&syntax.NonGreedy == 0 &&
		(p.many.Sub[0].Op == syntax.OpAnyChar || p.many.Sub[0].Op == syntax.OpAnyCharNotNL)
}

// divide splits a sequence that continues with arbitrary text after a letter or digit, where no prefix can
// end. The results match the path itself, paths that continue with a slash, and all others.
func divide(pieces []piece, dir string) [][]piece {
	head := dir
	for i, p := range pieces {
		if p.many == nil {
			head += p.text
			continue
		}
		isAll := p.takesAll()
		with := func(p ...piece) []piece { return slices.Concat(pieces[:i], p, pieces[i+1:]) }
		if isAll && head == "" { // all paths begin with a slash
			return [][]piece{with(piece{text: "/"}, anything())}
		}
		if !isAll || head == "" || endsDelimited(head) {
			return [][]piece{pieces}
		}
		other := &syntax.Regexp{Op: syntax.OpCharClass, Rune: []rune{0, '/' - 1, '/' + 1, 0xff}}
		all := [][]piece{with(piece{text: "/"}, anything()), with(piece{many: other}, anything())}
		if p.many.Op == syntax.OpStar {
			all = append(all, with())
		}
		return all
	}
	return [][]piece{pieces}
}
