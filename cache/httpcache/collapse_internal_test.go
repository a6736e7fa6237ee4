package httpcache

import (
	"strconv"
	"testing"
	"time"
)

// The number of kinds that are not collapsed is limited; the kind of the normal spelling is never dropped.
func TestCollapseKindsAreBounded(t *testing.T) {
	now := time.Now()
	var e *Entry
	e = e.withoutCollapsing(collapseKind{}, now, now.Add(time.Minute))
	for i := range 10 * maxCollapseKinds {
		before := e
		e = e.withoutCollapsing(collapseKind{spelling: strconv.Itoa(i)}, now, now.Add(time.Hour+time.Duration(i)))
		if len(e.uncollapsed) > maxCollapseKinds || e.uncollapsed[collapseKind{}].IsZero() ||
			before.uncollapsed[collapseKind{spelling: strconv.Itoa(i)}] != (time.Time{}) {
			t.Fatalf("%d: %d kinds", i, len(e.uncollapsed))
		}
	}
	if e = e.withoutCollapsing(collapseKind{cookie: true}, now.Add(2*time.Hour),
		now.Add(3*time.Hour)); len(e.uncollapsed) != 1 {
		t.Errorf("%d kinds whose time has passed", len(e.uncollapsed)-1)
	}
}
