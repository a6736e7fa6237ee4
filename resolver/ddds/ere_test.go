package ddds

import (
	"errors"
	"regexp/syntax"
	"strings"
	"testing"
)

// match0 returns the part of text that ere matches.
func match0(ere, text string) (string, error) {
	re, err := compileERE(ere, syntax.POSIX)
	if err != nil {
		return "", err
	}
	at := re.FindStringIndex(text)
	if at == nil {
		return "", errNoMatch
	}
	return text[at[0]:at[1]], nil
}

func TestERE(t *testing.T) {
	for _, v := range readVectors(t, "ere.tsv", 3) {
		got, err := match0(v.fields[0], v.fields[1])
		v.check(t, got, err)
	}
}

func TestEREIsUTF8(t *testing.T) {
	if _, err := match0("\xff", "a"); err == nil {
		t.Error("invalid UTF-8 was accepted")
	}
}

// Only expressions with counted repetitions can be too large: none of 255 octets without
// them is.
func TestEREProgramSize(t *testing.T) {
	for _, part := range []string{"a", "a?", "a*", "(a)?", "()", "(|)", "|", "a|b", "(a?)", "[a-z]", "(a*)*", "((((a?)?)?)?)?", "(((|a)|b)|c)", "^$", "é", "[^é]?"} {
		ere := strings.Repeat(part, (maxExpression-4)/len(part))
		for _, flags := range []syntax.Flags{syntax.POSIX, syntax.FoldCase} {
			if _, err := compileERE(ere, flags); err != nil {
				t.Errorf("%q many times: %v", part, err)
			}
		}
	}
	if _, err := compileERE("[0-9]{300}", syntax.POSIX); err != nil {
		t.Error(err)
	}
	if _, err := compileERE(strings.Repeat("(.?){999}", 27), syntax.POSIX); !errors.Is(err, errLarge) {
		t.Errorf("got %v, want %v", err, errLarge)
	}
}

// The time of the worst expression on the longest name; without maxProgram it was most of
// a minute.
func BenchmarkEREWorst(b *testing.B) {
	re, err := compileERE(strings.Repeat("(.?){9}", 26)+"x", syntax.POSIX)
	if err != nil {
		b.Fatal(err)
	}
	aus := "urn:foo:" + strings.Repeat("a", 8<<10)
	for b.Loop() {
		re.FindStringSubmatch(aus)
	}
}

func FuzzERE(f *testing.F) {
	for _, v := range readVectors(f, "ere.tsv", 3) {
		f.Add(v.fields[0], v.fields[1])
	}
	f.Fuzz(func(t *testing.T, ere, text string) {
		if len(ere) > maxExpression || len(text) > 1000 {
			return
		}
		re, err := compileERE(ere, syntax.POSIX)
		if err != nil {
			return
		}
		for _, i := range re.FindStringSubmatchIndex(text) {
			if i < -1 || i > len(text) {
				t.Fatalf("%q on %q: offset %d", ere, text, i)
			}
		}
	})
}
