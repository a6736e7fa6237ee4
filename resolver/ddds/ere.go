package ddds

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// compileERE compiles a POSIX extended regular expression to Go's engine,
// which runs in linear time, with leftmost-longest matching.
// regexp.CompilePOSIX has no way to ignore case.
func compileERE(ere string, flags syntax.Flags) (*regexp.Regexp, error) {
	translated, err := translateERE(ere)
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", ere, err)
	}
	parsed, err := syntax.Parse(translated, flags)
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", ere, err)
	}
	re, err := regexp.Compile(parsed.String())
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", ere, err)
	}
	re.Longest()
	return re, nil
}

var (
	errBracket    = errors.New("bracket expression does not end")
	errCollating  = errors.New("collating elements and equivalence classes are not supported")
	errEscape     = errors.New("this escape means different things to different engines")
	errRepetition = errors.New("a repetition repeats an anchor or nothing")
)

// translateERE writes an ERE so that Go reads it as POSIX does, and refuses
// what has no such reading.
func translateERE(ere string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(ere); {
		switch c := ere[i]; {
		case c == '[':
			end, err := translateBracket(&b, ere, i)
			if err != nil {
				return "", err
			}
			i = end
		case c == '\\':
			if i+1 == len(ere) || !strings.ContainsRune(`^.[]$()|*+?{}\/-!#,:;=@&%_~"`, rune(ere[i+1])) {
				return "", errEscape
			}
			b.WriteString(ere[i : i+2])
			i += 2
		case strings.IndexByte("*+?{", c) >= 0 && (i == 0 || ere[i-1] == '^' && (i == 1 || ere[i-2] != '\\')):
			return "", errRepetition
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), nil
}

// translateBracket writes the bracket expression that begins at i. In POSIX a
// backslash has no meaning there (XBD section 9.3.5), in Go it escapes.
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
		case c == '[' && i+1 < len(ere) && ere[i+1] == ':':
			end := strings.Index(ere[i:], ":]")
			if end < 0 {
				return 0, errBracket
			}
			b.WriteString(ere[i : i+end+2])
			i += end + 2
		case c == '[' && i+1 < len(ere) && (ere[i+1] == '.' || ere[i+1] == '='):
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
