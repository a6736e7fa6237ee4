package ddds

import (
	"errors"
	"strings"
	"testing"
)

// substitute parses and applies an expression.
func substitute(expression, aus string) (string, error) {
	s, err := parseSubstitution(expression)
	if err != nil {
		return "", err
	}
	result, _, err := s.apply(aus, newBudget())
	return result, err
}

func TestSubstitution(t *testing.T) {
	for _, v := range readVectors(t, "substitution.tsv", 3) {
		got, err := substitute(v.fields[0], v.fields[1])
		v.check(t, got, err)
		if isNoMatch := errors.Is(err, errNoMatch); err != nil && isNoMatch != (v.failure == "does not match") {
			t.Errorf("%s: errNoMatch is %t", v.where, isNoMatch)
		}
	}
}

func TestSubstitutionLength(t *testing.T) {
	longest := "!^a$!" + strings.Repeat("b", maxExpression-6) + "!"
	if got, err := substitute(longest, "a"); err != nil || got != strings.Repeat("b", maxExpression-6) {
		t.Errorf("%d bytes: got %q, %v", len(longest), got, err)
	}
	if _, err := parseSubstitution(longest + "i"); err == nil || !strings.Contains(err.Error(), "256 bytes") {
		t.Errorf("256 bytes: got %v", err)
	}
}

// The result may be longer than a character-string in the DNS: the key is checked where it is used.
func TestSubstitutionResultIsNotBounded(t *testing.T) {
	aus := strings.Repeat("a", 1000)
	got, err := substitute(`!(.*)!\1\1\1!`, aus)
	if err != nil || got != strings.Repeat("a", 3000) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

// The whole match is leftmost-longest, but the groups are those that backtracking finds first; POSIX requires
// "ab", "c" and "d" (XBD section 9.1). Expressions with ambiguous groups are rare, and no engine of linear time
// does better.
func TestSubstitutionGroupsAreThoseOfBacktracking(t *testing.T) {
	got, err := substitute(`!(a|ab)(c|bcd)(d*)!\1-\2-\3!`, "abcd")
	if err != nil || got != "a-bcd-" {
		t.Errorf("got %q, %v: if this is POSIX now, update the test", got, err)
	}
}

// FuzzSubstitution: apply is deterministic, and fails only with errNoMatch.
func FuzzSubstitution(f *testing.F) {
	for _, v := range readVectors(f, "substitution.tsv", 3) {
		f.Add(v.fields[0], v.fields[1])
	}
	f.Add("!\xff!\\1!", "a")
	f.Add("\xffa\xffb\xff", "a")
	f.Fuzz(func(t *testing.T, expression, aus string) {
		s, err := parseSubstitution(expression)
		if err != nil || len(aus) > 8<<10 {
			return
		}
		if len(expression) > maxExpression {
			t.Fatalf("%d bytes were accepted", len(expression))
		}
		first, matched, err := s.apply(aus, newBudget())
		second, _, again := s.apply(aus, newBudget())
		if !strings.Contains(aus, matched) {
			t.Fatalf("%q on %q matched %q", expression, aus, matched)
		}
		if first != second || !errors.Is(again, err) {
			t.Fatalf("%q on %q gave %q, %v, then %q, %v", expression, aus, first, err, second, again)
		}
		if err != nil && (!errors.Is(err, errNoMatch) || first != "") {
			t.Fatalf("%q on %q: %q, %v", expression, aus, first, err)
		}
		if third, err := substitute(expression, aus); err == nil && third != first {
			t.Fatalf("%q on %q gave %q, parsed anew %q", expression, aus, first, third)
		}
	})
}
