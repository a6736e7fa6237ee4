package httpcache

import "testing"

// A small part of a block does not hold the memory of all of it, which nobody counts.
func TestPartsOwnTheirMemory(t *testing.T) {
	whole := blocks{make([]byte, blockSize)}
	part := whole.part(span{10, 20}).ownMemory(whole)
	part[0][0] = 1
	if whole[0][10] != 0 {
		t.Error("the part is of the memory of the whole")
	}
	if large := whole.part(span{0, blockSize - 1}).ownMemory(whole); &large[0][0] != &whole[0][0] {
		t.Error("most of a block is copied")
	}
}
