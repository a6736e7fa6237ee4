package httpcache

import (
	"strconv"
	"testing"

	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// The size of a selection is limited; beyond the limits it selects more, never less.
func TestGroupSelectionLimits(t *testing.T) {
	const a, b = "http://a.example", "http://b.example"
	member := func(groups string) *stored {
		return &stored{Response: rules.Response{Fields: httpmessage.NewFields("Cache-Groups", groups)}}
	}
	var g groupSelection
	for i := range maxGroups {
		g = g.with(a, []string{strconv.Itoa(i)})
	}
	if !g.selects(a+"/", member(`"x", "7"`)) || g.selects(a+"/", member(`"x"`)) || g.selects(b+"/", member(`"7"`)) ||
		!g.selects(a+"/", nil) || g.selects(b+"/", nil) {
		t.Errorf("within the limits: %v", g)
	}
	g = g.with(a, []string{"one more"}).with(a, []string{"7"})
	if !g.selects(a+"/", member(`"x"`)) || g.selects(a+"/", member("")) || g.selects(b+"/", member(`"7"`)) {
		t.Errorf("too many groups: %v", g)
	}
	for i := range maxGroupOrigins {
		g = g.with("http://"+strconv.Itoa(i), []string{"7"})
	}
	if g = g.with(b, []string{"7"}); !g.selects(b+"/", member(`"x"`)) || g.selects(b+"/", member("")) || len(g) != 1 {
		t.Errorf("too many origins: %d", len(g))
	}
}
