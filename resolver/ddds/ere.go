package ddds

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// ere is a POSIX extended regular expression. It is safe for concurrent use.
type ere struct {
	text    string
	parsed  *syntax.Regexp
	size    int // of its program, in instructions
	compile func() (*regexp.Regexp, error)
}

// parseERE parses an expression for Go's engine, which runs in linear time.
func parseERE(text string, flags syntax.Flags) (*ere, error) {
	translated, err := translateERE(text)
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", text, err)
	}
	parsed, err := syntax.Parse(translated, flags)
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", text, err)
	}
	size := programSize(parsed)
	if size > maxProgram {
		return nil, fmt.Errorf("expression %q: %w", text, errLarge)
	}
	e := &ere{text: text, parsed: parsed, size: size}
	e.compile = sync.OnceValues(e.program)
	return e, nil
}

// maxProgram limits the instructions of a compiled expression: each takes time at each byte of the name, and
// `(.?){999}` has thousands. Without counted repetitions the longest expression stays below it.
const maxProgram = 1000

// program compiles the expression with leftmost-longest matching. regexp.CompilePOSIX cannot ignore case.
func (e *ere) program() (*regexp.Regexp, error) {
	re, err := regexp.Compile(e.parsed.String())
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", e.text, err)
	}
	re.Longest()
	return re, nil
}

var (
	errBracket    = errors.New("bracket expression is not closed")
	errCollating  = errors.New("collating elements and equivalence classes are not supported")
	errClass      = errors.New("character class is not a POSIX class")
	errEscape     = errors.New("escape sequence undefined in POSIX")
	errInterval   = errors.New("interval is not {n}, {n,} or {n,m}")
	errLarge      = errors.New("repetitions too large")
	errRepetition = errors.New("repetition of an anchor or of nothing")
)

// interval is XBD section 9.4.6 item 5. Go treats other braces as literals, and some engines read {,m} as
// {0,m}.
var interval = regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)

// translateERE translates an ERE to an equivalent expression for Go, or returns an error if there is none.
func translateERE(text string) (string, error) {
	var b strings.Builder
	atom := false // whether a repetition may follow at i
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '[':
			end, err := translateBracket(&b, text, i)
			if err != nil {
				return "", err
			}
			i, atom = end, true
		case c == '\\':
			if i+1 == len(text) || !strings.ContainsRune(`^.[]$()|*+?{}\/-!#,:;=@&%_~"`, rune(text[i+1])) {
				return "", errEscape
			}
			b.WriteString(text[i : i+2])
			i, atom = i+2, true
		case strings.IndexByte("*+?{", c) >= 0 && !atom:
			return "", errRepetition
		case c == '{' && !interval.MatchString(text[i:]):
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

// translateBracket translates the bracket expression that starts at i, and returns the offset after it. Inside
// it, a backslash is literal in POSIX (XBD section 9.3.5), and an escape in Go.
func translateBracket(b *strings.Builder, text string, i int) (int, error) {
	b.WriteByte('[')
	i++
	if i < len(text) && text[i] == '^' {
		b.WriteByte('^')
		i++
	}
	for first := true; i < len(text); first = false {
		switch c := text[i]; {
		case c == ']' && !first:
			b.WriteByte(']')
			return i + 1, nil
		case strings.HasPrefix(text[i:], "[:"):
			class, err := bracketClass(text[i:])
			if err != nil {
				return 0, err
			}
			b.WriteString(class)
			i += len(class)
		case strings.HasPrefix(text[i:], "[.") || strings.HasPrefix(text[i:], "[="):
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
