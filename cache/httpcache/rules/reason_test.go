package rules

import (
	"regexp"
	"testing"
)

// TestReasons: each reason has a unique code, a token of RFC 9651, a section and a sentence; ReasonNone has
// none.
func TestReasons(t *testing.T) {
	token, seen := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`), make(map[string]bool)
	for _, r := range Reasons() {
		if !token.MatchString(r.Code()) || seen[r.Code()] || r.Section() == "" || r.String() == "" {
			t.Errorf("%d: %q, %q, %q", r, r.Code(), r.Section(), r)
		}
		seen[r.Code()] = true
	}
	for _, r := range []Reason{ReasonNone, reasons, 255} {
		if r.Code() != "" || r.Section() != "" || r.String() != "" || seen[""] {
			t.Errorf("%d: %q, %q, %q", r, r.Code(), r.Section(), r)
		}
	}
	for s, want := range map[Source]string{
		SourceNone: "", SourceHeuristic: "heuristic", SourceOverride: "override",
		sources: "", 255: "",
	} {
		if s.String() != want {
			t.Errorf("%d: %q", s, s)
		}
	}
}
