package ddds

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

// match0 returns the part of text that ere matches.
func match0(ere, text string) (string, error) {
	re, err := compileText(ere, syntax.POSIX)
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

// compileText parses and compiles an expression.
func compileText(text string, flags syntax.Flags) (*regexp.Regexp, error) {
	e, err := parseERE(text, flags)
	if err != nil {
		return nil, err
	}
	return e.compile()
}

// Only expressions with counted repetitions can be too large: no other expression of 255 bytes is.
func TestEREProgramSize(t *testing.T) {
	for _, part := range []string{
		"a", "a?", "a*", "(a)?", "()", "(|)", "|", "a|b", "(a?)", "[a-z]", "(a*)*", "((((a?)?)?)?)?", "(((|a)|b)|c)",
		"^$", "é", "[^é]?",
	} {
		ere := strings.Repeat(part, (maxExpression-4)/len(part))
		for _, flags := range []syntax.Flags{syntax.POSIX, syntax.FoldCase} {
			if _, err := compileText(ere, flags); err != nil {
				t.Errorf("%q many times: %v", part, err)
			}
		}
	}
	for _, text := range []string{
		"a{9}", "(a|b){2,5}", "((a?){3}){4}", "(ab*){3,}", "a{0,}", "(^a)*b+",
		"([a-f]|é){0,7}|x{3}", "(()|a{0})?",
	} {
		parsed, err := syntax.Parse(text, syntax.POSIX)
		if err != nil {
			t.Fatal(err)
		}
		program, err := syntax.Compile(parsed.Simplify())
		if got := programSize(parsed) + 2; err != nil || got < len(program.Inst)-1 || got > 2*len(program.Inst) {
			t.Errorf("%s: about %d instructions, of %d, %v", text, got, len(program.Inst), err)
		}
	}
	if _, err := compileText("[0-9]{300}", syntax.POSIX); err != nil {
		t.Error(err)
	}
	if _, err := compileText(strings.Repeat("(.?){999}", 27), syntax.POSIX); !errors.Is(err, errLarge) {
		t.Errorf("got %v, want %v", err, errLarge)
	}
}

// BenchmarkEREWorst measures the worst expression on the longest name. Without maxProgram it took most of a
// minute.
func BenchmarkEREWorst(b *testing.B) {
	re, err := compileText(strings.Repeat("(.?){9}", 26)+"x", syntax.POSIX)
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
		re, err := compileText(ere, syntax.POSIX)
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
