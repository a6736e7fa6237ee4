package memory

import (
	"strconv"
	"testing"
)

func TestGhost(t *testing.T) {
	const slots = 10_000
	g := newGhost(slots)
	if g.has("") || g.has("a") {
		t.Error("an empty ghost has keys")
	}
	for i := range slots {
		g.add("key " + strconv.Itoa(i))
	}
	remembered, mistaken := 0, 0
	for i := range slots {
		if g.has("key " + strconv.Itoa(i)) {
			remembered++
		}
		if g.has("other " + strconv.Itoa(i)) {
			mistaken++
		}
	}
	// With as many keys as slots, 1-1/e of the keys remain.
	if remembered < slots*6/10 || remembered > slots*7/10 || mistaken > 0 {
		t.Errorf("%d of %d keys are remembered, and %d others", remembered, slots, mistaken)
	}
}
