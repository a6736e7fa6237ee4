package webserver

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

// language is the set of paths that an expression matches entirely. Paths are sequences of bytes, as in PCRE
// without UTF mode; each byte is a rune of Latin-1.
type language struct{ prog *syntax.Prog }

func newLanguage(expression string) (*language, error) {
	e, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(e.Simplify())
	if err != nil {
		return nil, err
	}
	return &language{prog}, nil
}

// Limits of comparisons of languages, in states. A comparison that reaches a limit is undecided.
const (
	maxStates    = 3000      // of one comparison
	maxAllStates = 1_000_000 // of all comparisons for a configuration
)

// budget is the number of states left for the comparisons of a configuration.
type budget struct{ left int }

// before returns a representative of the previous rune, as far as \b and ^ depend on it.
func before(c rune) rune {
	switch {
	case !syntax.IsWordChar(c):
		return ' '
	default:
		return 'a'
	}
}

// closure returns the instructions reachable from a set without consuming a byte, and whether one of them
// matches.
func (l *language) closure(set []uint32, prev, next rune) (consuming []uint32, matched bool) {
	flags := syntax.EmptyOpContext(prev, next)
	seen := make(map[uint32]bool, len(set))
	for stack := slices.Clone(set); len(stack) > 0; {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch i := &l.prog.Inst[pc]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, i.Out, i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, i.Out)
		case syntax.InstEmptyWidth:
			if i.Arg&^uint32(flags) == 0 {
				stack = append(stack, i.Out)
			}
		case syntax.InstMatch:
			matched = true
		case syntax.InstFail:
		default:
			consuming = append(consuming, pc)
		}
	}
	return consuming, matched
}

// step returns the set of instructions after a byte.
func (l *language) step(set []uint32, prev, c rune) []uint32 {
	var next []uint32
	consuming, _ := l.closure(set, prev, c)
	for _, pc := range consuming {
		if i := &l.prog.Inst[pc]; i.MatchRune(c) {
			next = append(next, i.Out)
		}
	}
	slices.Sort(next)
	return slices.Compact(next)
}

// alphabet returns one byte of each class of bytes that no expression distinguishes.
func alphabet(languages []*language) []rune {
	var reps []rune
	seen := map[string]bool{}
	for _, c := range bytesInOrder() {
		signature := []byte{0}
		if syntax.IsWordChar(c) {
			signature[0] = 1
		}
		for _, l := range languages {
			for pc := range l.prog.Inst {
				switch i := &l.prog.Inst[pc]; i.Op {
				case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
					bit := byte(0)
					if i.MatchRune(c) {
						bit = 1
					}
					signature = append(signature, bit)
				}
			}
		}
		if !seen[string(signature)] {
			seen[string(signature)] = true
			reps = append(reps, c)
		}
	}
	return reps
}

// bytesInOrder returns the bytes of paths, which contain neither NUL nor line feed. Letters come first, so
// that witnesses are readable.
func bytesInOrder() (all []rune) {
	for _, r := range [][2]rune{
		{'a', 'z'},
		{'0', '9'},
		{'A', 'Z'},
		{' ', '/'},
		{':', '@'},
		{'[', '`'},
		{'{', '\u00ff'},
		{1, '\t'},
		{'\v', 0x1f},
	} {
		for c := r[0]; c <= r[1]; c++ {
			all = append(all, c)
		}
	}
	return all
}

// product is a state of the product automaton of several languages.
type product struct {
	sets [][]uint32
	prev rune
	path string // a shortest path to this state
}

func (p *product) key() string {
	b := []byte{byte(max(p.prev, 0))} //nolint:gosec // ASCII
	for _, set := range p.sets {
		for _, pc := range set {
			b = binary.AppendUvarint(b, uint64(pc)+1)
		}
		b = append(b, 0)
	}
	return string(b)
}

// search visits the states of the product automaton breadth-first, until visit returns false. visit gets a
// shortest path to the state, and which languages contain it. States from which one of the first languages is
// unreachable are pruned. search returns false if a limit is exceeded.
func (b *budget) search(languages []*language, first int, visit func(path string, has []bool) bool) (complete bool) {
	begin := &product{prev: -1}
	for _, l := range languages {
		begin.sets = append(begin.sets, []uint32{uint32(l.prog.Start)}) //nolint:gosec // not negative
	}
	seen := map[string]bool{begin.key(): true}
	reps := alphabet(languages)
	for queue := []*product{begin}; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		has := make([]bool, len(languages))
		for n, l := range languages {
			_, has[n] = l.closure(p.sets[n], p.prev, -1)
		}
		if !visit(p.path, has) {
			return true
		}
		for _, c := range reps {
			next := &product{prev: before(c), path: p.path + bytesOf([]rune{c})}
			live := true
			for n, l := range languages {
				set := l.step(p.sets[n], p.prev, c)
				live = live && (n >= first || len(set) > 0)
				next.sets = append(next.sets, set)
			}
			if key := next.key(); live && !seen[key] {
				if b.left -= 1 + len(key)/16; len(seen) == maxStates || b.left < 0 {
					return false
				}
				seen[key] = true
				queue = append(queue, next)
			}
		}
	}
	return true
}

// exists reports whether some path is in all languages of in and in none of out. If undecided it returns
// true.
func (b *budget) exists(in, out []*language) bool {
	found := false
	complete := b.left > 0 && b.search(append(slices.Clone(in), out...), len(in), func(_ string, has []bool) bool {
		found = !slices.Contains(has[:len(in)], false) && !slices.Contains(has[len(in):], true)
		return !found
	})
	return found || !complete
}

// has reports whether a path is in the language.
func (l *language) has(path string) bool {
	set := []uint32{uint32(l.prog.Start)} //nolint:gosec // not negative
	prev := rune(-1)
	for i := range len(path) {
		c := rune(path[i])
		set = l.step(set, prev, c)
		prev = before(c)
	}
	_, matched := l.closure(set, prev, -1)
	return matched
}
