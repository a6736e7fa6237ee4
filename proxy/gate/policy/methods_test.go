package policy_test

import (
	"testing"

	"github.com/urnd/urnd/proxy/gate/policy"
)

// "post" differs from POST (RFC 9110 section 9.1), but not for every server: it does not circumvent a rule
// that denies POST, and a rule that allows POST does not allow it.
func TestMethodsInAnotherCase(t *testing.T) {
	denied, allowed := policy.Rule{ID: "denied", Deny: true, Methods: []string{"POST", "CONNECT"}},
		policy.Rule{ID: "allowed", Methods: []string{"GET", "POST"}}
	rest := policy.Rule{ID: "rest", Deny: true}
	for _, tt := range []struct {
		method string
		rules  []policy.Rule
		rule   string
		deny   bool
	}{
		{"POST", []policy.Rule{denied}, "denied", true},
		{"post", []policy.Rule{denied}, "denied", true},
		{"Post", []policy.Rule{denied}, "denied", true},
		{"connect", []policy.Rule{denied}, "denied", true},
		{"GET", []policy.Rule{denied}, "", false},
		{"POSTS", []policy.Rule{denied}, "", false},
		{"POST", []policy.Rule{allowed, rest}, "allowed", false},
		{"post", []policy.Rule{allowed, rest}, "rest", true},
		{"get", []policy.Rule{allowed, rest}, "rest", true},
		{"post", []policy.Rule{allowed}, "", false},
	} {
		r := request()
		r.Method = tt.method
		p := newPolicy(t, policy.ModeEnforce, tt.rules...)
		if got := p.Decide(r); got.Rule != tt.rule || got.Deny != tt.deny {
			t.Errorf("%s: %+v", tt.method, got)
		}
		if explained := p.Explain(r); (len(explained) > 0) != (tt.rule != "") ||
			len(explained) > 0 && explained[0].Rule != tt.rule {
			t.Errorf("%s is explained as %+v", tt.method, explained)
		}
	}
}
