package ddds

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// compileERE compiles a POSIX extended regular expression for Go's engine, which runs in
// linear time, with leftmost-longest matching. regexp.CompilePOSIX cannot ignore case.
func compileERE(ere string, flags syntax.Flags) (*regexp.Regexp, error) {
	translated, err := translateERE(ere)
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", ere, err)
	}
	parsed, err := syntax.Parse(translated, flags)
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", ere, err)
	}
	if err := checkProgram(parsed); err != nil {
		return nil, fmt.Errorf("expression %q: %w", ere, err)
	}
	re, err := regexp.Compile(parsed.String())
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", ere, err)
	}
	re.Longest()
	return re, nil
}

// maxProgram bounds the instructions of a compiled expression: each takes time at each
// octet of the name, and `(.?){999}` has thousands. Without counted repetitions the
// longest expression stays below.
const maxProgram = 1000

func checkProgram(parsed *syntax.Regexp) error {
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return err
	}
	if len(program.Inst) > maxProgram {
		return errLarge
	}
	return nil
}

var (
	errBracket    = errors.New("bracket expression does not end")
	errCollating  = errors.New("collating elements and equivalence classes are not supported")
	errClass      = errors.New("character class is not a POSIX class")
	errEscape     = errors.New("this escape means different things to different engines")
	errInterval   = errors.New("interval is not {n}, {n,} or {n,m}")
	errLarge      = errors.New("expression repeats too much")
	errRepetition = errors.New("a repetition repeats an anchor or nothing")
)

// interval is XBD section 9.4.6 item 5. Go takes other braces literally, and some engines
// read {,m} as {0,m}.
var interval = regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)

// translateERE translates an ERE to an equivalent expression for Go, and returns an error
// if there is none.
func translateERE(ere string) (string, error) {
	var b strings.Builder
	atom := false // whether a repetition may follow at i
	for i := 0; i < len(ere); {
		switch c := ere[i]; {
		case c == '[':
			end, err := translateBracket(&b, ere, i)
			if err != nil {
				return "", err
			}
			i, atom = end, true
		case c == '\\':
			if i+1 == len(ere) || !strings.ContainsRune(`^.[]$()|*+?{}\/-!#,:;=@&%_~"`, rune(ere[i+1])) {
				return "", errEscape
			}
			b.WriteString(ere[i : i+2])
			i, atom = i+2, true
		case strings.IndexByte("*+?{", c) >= 0 && !atom:
			return "", errRepetition
		case c == '{' && !interval.MatchString(ere[i:]):
			return "", errInterval
		default:
			b.WriteByte(c)
			i, atom = i+1, strings.IndexByte("^$(|", c) < 0
		}
	}
	return b.String(), nil
}

// classes are the character classes of XBD section 9.3.5; Go has more.
var classes = [...]string{
	"alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit",
}

// translateBracket translates the bracket expression that begins at i, and returns the
// offset after it. There a backslash is literal in POSIX (XBD section 9.3.5), and an
// escape in Go.
func translateBracket(b *strings.Builder, ere string, i int) (int, error) {
	b.WriteByte('[')
	i++
	if i < len(ere) && ere[i] == '^' {
		b.WriteByte('^')
		i++
	}
	for first := true; i < len(ere); first = false {
		switch c := ere[i]; {
		case c == ']' && !first:
			b.WriteByte(']')
			return i + 1, nil
		case strings.HasPrefix(ere[i:], "[:"):
			class, err := bracketClass(ere[i:])
			if err != nil {
				return 0, err
			}
			b.WriteString(class)
			i += len(class)
		case strings.HasPrefix(ere[i:], "[.") || strings.HasPrefix(ere[i:], "[="):
			return 0, errCollating
		case c == '\\' || c == '[' || c == ']':
			b.WriteByte('\\')
			b.WriteByte(c)
			i++
		default:
			b.WriteByte(c)
			i++
		}
	}
	return 0, errBracket
}

// bracketClass returns the character class, such as "[:digit:]", at the start of s.
func bracketClass(s string) (string, error) {
	name, _, ok := strings.Cut(s[2:], ":]")
	if !ok {
		return "", errBracket
	}
	if !slices.Contains(classes[:], name) {
		return "", errClass
	}
	return s[:len(name)+4], nil
}
