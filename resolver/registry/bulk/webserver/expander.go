package webserver

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// expander makes sequences of pieces of an expression.
type expander struct {
	odd bool // it has what pieces do not say
}

// literal returns a text, or what it is in upper and lower case.
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

// spellings returns a text as people write it: in lower case, in upper case and with a capital; and all other spellings.
func (x *expander) spellings(e *syntax.Regexp) [][]piece {
	lower := strings.ToLower(bytesOf(e.Rune))
	return [][]piece{
		{{text: lower}}, {{text: strings.ToUpper(lower)}}, {{text: strings.ToUpper(lower[:1]) + lower[1:]}}, {{many: e, stray: true}},
	}
}

// class returns the characters of a small class.
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

// anything returns a piece for all texts.
func anything() piece {
	return piece{many: &syntax.Regexp{Op: syntax.OpStar, Sub: []*syntax.Regexp{{Op: syntax.OpAnyChar}}}}
}

// anchors removes the anchors of pieces, which have all texts before or after them where they are not anchored. ok is false where
// an anchor is elsewhere.
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

// takesAll reports whether a piece is as much of a path as there is.
func (p piece) takesAll() bool {
	return p.many != nil && (p.many.Op == syntax.OpStar || p.many.Op == syntax.OpPlus) && p.many.Flags&syntax.NonGreedy == 0 &&
		(p.many.Sub[0].Op == syntax.OpAnyChar || p.many.Sub[0].Op == syntax.OpAnyCharNotNL)
}

// divide divides a sequence whose texts go on by anything after a letter or digit, where no prefix can end: into the path itself,
// what follows it after a slash, and all else.
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
