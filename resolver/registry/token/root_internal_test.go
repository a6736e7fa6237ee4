package token

import (
	"errors"
	"strconv"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// The descendants of one token cannot use up the tokens of others.
func TestRoots(t *testing.T) {
	all := []registry.StoredToken{{Token: Token{ID: "department"}}, {Token: Token{ID: "another"}}}
	by, n, refused := "department", 0, error(nil)
	for ; n < 2*maxOfRoot; n++ {
		root, err := rootOf(registry.Actor{Token: by}, all)
		if refused = err; err != nil {
			break
		}
		if root != "department" {
			t.Fatalf("token %d descends from %q", n, root)
		}
		all = append(all, registry.StoredToken{Token: Token{ID: strconv.Itoa(n)}, Root: root})
		if n%500 == 0 { // the creator of the next ones
			by = strconv.Itoa(n)
		}
	}
	if n != maxOfRoot || !errors.Is(refused, registry.ErrInvalid) || n > maxTokens/2 {
		t.Errorf("it has made %d tokens: %v", n, refused)
	}
	for token, want := range map[string]string{"another": "another", "": "", "revoked": "revoked"} {
		if root, err := rootOf(registry.Actor{Token: token}, all); err != nil || root != want {
			t.Errorf("a token made by %q descends from %q, %v", token, root, err)
		}
	}
}
