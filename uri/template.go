package uri

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	stduritemplate "github.com/std-uritemplate/std-uritemplate/go/v2"
)

// Variables are the values of the variables of a URI template; one that is missing is undefined.
type Variables = stduritemplate.Substitutions

// ExpandTemplate returns the expansion of a URI template: RFC 6570. The error says what of the template is not valid.
func ExpandTemplate(template string, values Variables) (string, error) {
	if hasPrefixes(template) {
		var err error
		if template, values, err = withoutPrefixes(template, values); err != nil {
			return "", err
		}
	}
	return stduritemplate.Expand(template, values)
}

// hasPrefixes reports whether an expression of a template may have a prefix modifier; most templates have none.
func hasPrefixes(template string) bool {
	_, rest, _ := strings.Cut(template, "{")
	return strings.Contains(rest, ":")
}

var (
	anExpression = regexp.MustCompile(`\{([+#./;?&]?)([^{}]*)\}`)
	maxLength    = regexp.MustCompile(`^[1-9][0-9]{0,3}$`) // RFC 6570 section 2.4.1
)

// withoutPrefixes does for the library what it does not do by RFC 6570 section 2.4.1: lengths are from 1 to 9999, and where
// reserved characters are not encoded, no percent-encoded character is cut. There the prefix becomes a variable of its own.
func withoutPrefixes(template string, values Variables) (string, Variables, error) {
	var err error
	own := make(Variables, len(values))
	for name, value := range values {
		own[name] = value
	}
	text := anExpression.ReplaceAllStringFunc(template, func(expression string) string {
		parts := anExpression.FindStringSubmatch(expression)
		variables := strings.Split(parts[2], ",")
		for i, variable := range variables {
			name, length, ok := strings.Cut(variable, ":")
			if !ok {
				continue
			}
			if !maxLength.MatchString(length) {
				err = fmt.Errorf("the prefix modifier :%s of {%s} is not a number from 1 to 9999 (RFC 6570 section 2.4.1)", length, parts[2])
				continue
			}
			value, isText := values[name].(string)
			if !isText || parts[1] != "+" && parts[1] != "#" {
				continue
			}
			variables[i] = fmt.Sprintf("%s__%s", name, length)
			own[variables[i]] = beginning(value, length)
		}
		return "{" + parts[1] + strings.Join(variables, ",") + "}"
	})
	return text, own, err
}

// beginning returns the first characters of a text, in which one may be percent-encoded.
func beginning(text, length string) string {
	n, _ := strconv.Atoi(length) // maxLength has seen it
	end := 0
	for ; n > 0 && end < len(text); n-- {
		end += characterSize(text[end:])
	}
	return text[:end]
}

// characterSize returns how long the first character of a text is: all of its octets where they are percent-encoded.
func characterSize(text string) int {
	var octets []byte
	for i := 0; len(octets) < utf8.UTFMax && isTriple(text, i); i += 3 {
		octets = append(octets, unhex(text[i+1])<<4|unhex(text[i+2]))
	}
	if len(octets) == 0 {
		_, size := utf8.DecodeRuneInString(text)
		return size
	}
	_, size := utf8.DecodeRune(octets)
	return 3 * size
}
