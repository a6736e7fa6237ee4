package body

import (
	"testing"

	"github.com/urnd/urnd/cache/httpcache/rules"
)

// A small part of a block does not retain the memory of the whole block, which no counter includes.
func TestPartsOwnTheirMemory(t *testing.T) {
	whole := Blocks{make([]byte, blockSize)}
	part := whole.Part(rules.Span{Start: 10, End: 20}).Compact(whole)
	part[0][0] = 1
	if whole[0][10] != 0 {
		t.Error("the part is of the memory of the whole")
	}
	if large := whole.Part(rules.Span{Start: 0, End: blockSize - 1}).Compact(whole); &large[0][0] != &whole[0][0] {
		t.Error("most of a block is copied")
	}
}
