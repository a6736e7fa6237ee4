// Package cachecontrol parses the Cache-Control field: RFC 9111 section 5.2. Field lines enter; directives,
// with their names in lower case and their arguments unquoted, leave.
//
// A malformed field is parsed so that less is cached: a directive counts as present even with an invalid
// argument, and an invalid number is 0 (section 4.2.1).
package cachecontrol

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Directive is one directive of a field.
type Directive struct {
	Name string // in lower case
	// Argument is the text after "=", without quotes; HasArgument distinguishes an empty argument from a
	// missing one.
	Argument    string
	HasArgument bool
}

// Directives are the directives of a message, in the order of the field.
type Directives []Directive

// Parse reads the lines of a Cache-Control field. Elements without a name are skipped.
func Parse(lines []string) Directives { return Append(nil, lines) }

// Append is Parse that appends to directives.
func Append(directives Directives, lines []string) Directives {
	for _, line := range lines {
		for line != "" {
			var d Directive
			if d, line = next(line); d.Name != "" {
				directives = append(directives, d)
			}
		}
	}
	return directives
}

// next parses the first element of a list (RFC 9110 section 5.6.1), and returns the text after its comma.
func next(line string) (d Directive, rest string) {
	end := strings.IndexAny(line, ",=")
	if end < 0 || line[end] == ',' {
		name, rest, _ := strings.Cut(line, ",")
		return Directive{Name: nameOf(name)}, rest
	}
	d = Directive{Name: nameOf(line[:end]), HasArgument: true}
	argument := line[end+1:]
	if text, rest, ok := quoted(argument); ok {
		d.Argument = text
		return d, rest
	}
	d.Argument, rest, _ = strings.Cut(argument, ",")
	d.Argument = strings.TrimRight(d.Argument, ows)
	return d, rest
}

// ows is optional whitespace: RFC 9110 section 5.6.3.
const ows = " \t"

// nameOf returns the name of a directive in lower case. A token is ASCII.
func nameOf(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.Trim(s, ows))
}

// quoted parses an argument that is a quoted-string (RFC 9110 section 5.6.4), and returns the text after the
// comma that follows.
func quoted(s string) (text, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] == '"':
			rest = strings.TrimLeft(s[i+1:], ows)
			if rest != "" && rest[0] != ',' {
				return "", "", false
			}
			return b.String(), strings.TrimPrefix(rest, ","), true
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}

// Has reports whether there is a directive with this name, with or without an argument.
func (d Directives) Has(name string) bool {
	return slices.ContainsFunc(d, func(directive Directive) bool { return directive.Name == name })
}

// maxSeconds is the maximum number of seconds; greater numbers become this: RFC 9111 section 1.2.2.
const maxSeconds = 1<<31 - 1

// Seconds returns the delta-seconds of the first directive with this name, 0 if its argument is invalid, and
// whether there is such a directive (RFC 9111 sections 1.2.2 and 4.2.1).
func (d Directives) Seconds(name string) (time.Duration, bool) {
	i := slices.IndexFunc(d, func(directive Directive) bool { return directive.Name == name })
	if i < 0 {
		return 0, false
	}
	return DeltaSeconds(d[i].Argument), true
}

// DeltaSeconds parses delta-seconds (RFC 9111 section 1.2.2), as in Age. It returns 0 for an invalid number,
// and at most 2^31-1 seconds.
func DeltaSeconds(text string) time.Duration {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		n = maxSeconds // too many digits
	}
	return time.Duration(min(n, maxSeconds)) * time.Second
}

// Fields returns the field names, in lower case, that the directives with this name are limited to, as in
// no-cache="Set-Cookie". It returns nil if one of them applies to the whole message (RFC 9111 sections 5.2.2.4
// and 5.2.2.7), or has an invalid field name: in a quoted-string that is not closed, names may be missing.
func (d Directives) Fields(name string) []string {
	var fields []string
	for _, directive := range d {
		if directive.Name != name {
			continue
		}
		named := false
		for field := range strings.SplitSeq(directive.Argument, ",") {
			if field = nameOf(field); field == "" {
				continue
			}
			if strings.Trim(field, tchar) != "" {
				return nil
			}
			fields, named = append(fields, field), true
		}
		if !named {
			return nil
		}
	}
	return fields
}

// String returns the directives as a field value that Parse parses to the same directives.
func (d Directives) String() string {
	var b strings.Builder
	for i, directive := range d {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(directive.Name)
		if directive.HasArgument {
			b.WriteString("=" + argument(directive.Argument))
		}
	}
	return b.String()
}

// tchar are the bytes of a token: RFC 9110 section 5.6.2.
const tchar = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// argument returns a token unchanged, and any other text as a quoted-string.
func argument(text string) string {
	if text != "" && strings.Trim(text, tchar) == "" {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
