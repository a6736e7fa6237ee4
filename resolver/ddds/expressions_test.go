package ddds

import (
	"fmt"
	"testing"
)

// Cached expressions have the same results and the same cost of work, and their number is limited.
func TestExpressions(t *testing.T) {
	var known expressions
	for i := range 3 * maxExpressions {
		text := fmt.Sprintf(`!^urn:foo:(.*)$!http://a.example/%d/\1!`, i/2)
		record := NAPTR{Flags: "u", Services: "N2L", Regexp: text}
		fresh, reused := newBudget(), newBudget()
		reused.expressions = &known
		want, _ := record.apply("urn:foo:a", 'U', fresh)
		got, err := record.apply("urn:foo:a", 'U', reused)
		if err != nil || got.key != want.key || got.key != fmt.Sprintf("http://a.example/%d/a", i/2) ||
			reused.left != fresh.left || fresh.left == maxWork {
			t.Fatalf("%d: %q and %q, %v, with %d and %d left", i, got.key, want.key, err, reused.left, fresh.left)
		}
		if n := len(known.parsed); n > maxExpressions {
			t.Fatalf("%d expressions", n)
		}
	}
	for _, text := range []string{"!(!a!", `!(a{9}){9}{9}!a!`, "!a{200}!b!"} {
		n := len(known.parsed)
		if _, err := known.parse(text); len(known.parsed) > n {
			t.Errorf("%s is reused, %v", text, err)
		}
	}
}
