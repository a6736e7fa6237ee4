package ddds

import (
	"errors"
	"regexp/syntax"
)

// maxWork limits the work of matching expressions for one name, over all domains that its rules lead to. Its
// unit is a program instruction times a byte of the name, and takes 1 to 30 ns. Compiling counts as
// compileBytes bytes. A hundred rules of 40 instructions and a name of 100 bytes need a sixth of it.
const (
	maxWork      = 4 << 20
	compileBytes = 64
)

var errWork = errors.New("matching budget of the name exhausted")

// budget is the remaining work, and a cache of compiled expressions; nil for none. A cached expression costs
// the same work, so that the result does not depend on earlier resolutions.
type budget struct {
	left        int
	expressions *expressions
}

func newBudget() *budget { return &budget{left: maxWork} }

// take spends the work of compiling a program of a size and running it on a name of n bytes. It fails if too
// little is left.
func (b *budget) take(size, n int) error {
	work := size * (n + compileBytes)
	if work > b.left {
		b.left = 0
		return errWork
	}
	b.left -= work
	return nil
}

// programSize returns approximately how many instructions an expression compiles to, or more than maxProgram.
// It does not compile: counted repetitions nest, so that compiling would have the cost to be limited.
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
