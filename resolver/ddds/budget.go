package ddds

import (
	"errors"
	"regexp/syntax"
)

// maxWork bounds the work of matching expressions for one name, over all domains that its rules
// lead through: instructions of a program times octets of the name, and compiling as
// compileOctets of it. Each takes 1 to 30 ns. A hundred rules of 40 instructions and a name of
// 100 octets need a sixth.
const (
	maxWork       = 4 << 20
	compileOctets = 64
)

var errWork = errors.New("the work of matching for one name is used up")

// budget is the work that is left, and expressions that are compiled already; nil for none. They take
// the same work, so that the outcome does not depend on what was resolved before.
type budget struct {
	left        int
	expressions *expressions
}

func newBudget() *budget { return &budget{left: maxWork} }

// take uses the work of compiling a program of a size and running it on a name of n octets, and
// fails where too little is left.
func (b *budget) take(size, n int) error {
	work := size * (n + compileOctets)
	if work > b.left {
		b.left = 0
		return errWork
	}
	b.left -= work
	return nil
}

// programSize returns about how many instructions an expression compiles to, or more than
// maxProgram: counted repetitions nest, and compiling would cost what is to be bounded.
func programSize(re *syntax.Regexp) int {
	size := 0
	for _, sub := range re.Sub {
		if size += programSize(sub); size > maxProgram {
			return size
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		return max(len(re.Rune), 1)
	case syntax.OpCapture, syntax.OpStar:
		return size + 2
	case syntax.OpPlus, syntax.OpQuest:
		return size + 1
	case syntax.OpAlternate:
		return size + len(re.Sub) - 1
	case syntax.OpConcat:
		return size
	case syntax.OpRepeat:
		if re.Max < 0 {
			return size*max(re.Min, 1) + 2
		}
		return size*re.Max + re.Max - re.Min
	default: // one character, an anchor, or nothing
		return 1
	}
}
