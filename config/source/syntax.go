package source

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// This file explains syntax errors of YAML and TOML files.

// notUTF8 returns the first position that is not UTF-8, and a message about how to convert the file; "" if all
// is UTF-8.
func notUTF8(text []byte) (at Position, message string) {
	if len(text) > 1 && (text[0] == 0xff && text[1] == 0xfe || text[0] == 0xfe && text[1] == 0xff) {
		return Position{Line: 1, Column: 1}, "the file is in UTF-16: save it as UTF-8 (iconv -f utf-16 -t utf-8)"
	}
	at = Position{Line: 1, Column: 1}
	for rest := text; len(rest) > 0; {
		c, size := utf8.DecodeRune(rest)
		switch {
		case c == utf8.RuneError && size == 1:
			return at,
				fmt.Sprintf("the byte %#x is not UTF-8, but probably Latin-1 (Windows-1252): save the file as UTF-8 "+
					"(iconv -f "+
					"windows-1252 -t utf-8)", rest[0])
		case c == '\n':
			at = Position{Line: at.Line + 1}
		}
		at.Column++
		rest = rest[size:]
	}
	return Position{}, ""
}

// parsesAsTOML reports whether a text is valid, non-empty TOML.
func parsesAsTOML(text []byte) bool {
	var values map[string]any
	return toml.Unmarshal(text, &values) == nil && len(values) > 0
}

// parsesAsYAML reports whether a text is valid, non-empty YAML.
func parsesAsYAML(text []byte) bool {
	var values map[string]any
	return yaml.Unmarshal(text, &values) == nil && len(values) > 0
}

// parserLine matches the line number in an error of the YAML parser.
var parserLine = regexp.MustCompile(`line (\d+)`)

// syntax explains errors in the lines of a file.
type syntax struct {
	schema Schema
	source []string
}

// explain returns the error of a file that cannot be parsed.
func (s syntax) explain(path string, text []byte, err error) error {
	var known Diagnostics
	if errors.As(err, &known) {
		return known
	}
	failure := Diagnostic{File: path, Message: err.Error()}
	var inTOML *toml.DecodeError
	switch found := parserLine.FindStringSubmatch(failure.Message); {
	case isTOML(path) && parsesAsYAML(text):
		failure.Message = "this is YAML: the name of the file must end in .yaml, or its content be TOML"
	case !isTOML(path) && parsesAsTOML(text):
		failure.Message = "this is TOML: the name of the file must end in .toml, or its content be YAML"
	case errors.As(err, &inTOML):
		failure.Line, failure.Column = inTOML.Position()
		failure.Message = s.explainTOML(failure.Line, inTOML.Error())
	case isTOML(path):
		failure.Line, failure.Message = whereInTOML(s.source, failure.Message),
			strings.TrimPrefix(failure.Message, "toml: ")
		failure.Message = s.ofParser(failure.Line, failure.Message)
	case lineWithTab(text) > 0:
		failure.Line = lineWithTab(text)
		failure.Column = 1 + strings.IndexByte(lineOf(s.source, failure.Line), '\t')
		failure.Message = "the line is indented with a tab: YAML is indented with spaces"
	default:
		if found != nil {
			failure.Line, _ = strconv.Atoi(found[1])
		}
		failure.Position, failure.Message = s.explainYAML(failure.Line, failure.Message)
	}
	if failure.Line > 0 && failure.Column == 0 {
		line := lineOf(s.source, failure.Line)
		failure.Column = 1 + utf8.RuneCountInString(line) - utf8.RuneCountInString(strings.TrimLeft(line, " \t"))
	}
	return Diagnostics{failure}
}

var (
	word        = regexp.MustCompile(`[[:alnum:]]+`)
	keyOfLine   = regexp.MustCompile(`^\s*(?:- +)*["']?[\w.-]+["']?\s*(?:=|:(?:\s|$))`)
	blankOfLine = regexp.MustCompile(`^\s*(?:#.*)?$`)
)

// isNearSecret reports whether a line may belong to a setting that may hold a secret by mistake. It searches
// the line, and the lines above up to the nearest key, for the last word of the name of such a setting,
// ignoring case. Such a line is never shown: in a file that cannot be parsed, keys and values are unknown.
func (s syntax) isNearSecret(line int) bool {
	words := make(map[string]bool) // such as "token" of access.admin_token
	for name := range s.schema.SecretNames {
		words[name[strings.LastIndexByte(name, '_')+1:]] = true
	}
	for at := line; at > 0; at-- {
		text := lineOf(s.source, at)
		if slices.ContainsFunc(word.FindAllString(text, -1), func(w string) bool { return words[strings.ToLower(w)] }) {
			return true
		}
		if at < line && !blankOfLine.MatchString(text) && keyOfLine.MatchString(text) {
			return false
		}
	}
	return false
}

// quote formats a message with parts of a line, which are masked if they may be a secret.
func (s syntax) quote(line int, format string, texts ...string) string {
	secret := s.isNearSecret(line)
	shown := make([]any, len(texts))
	for i := range texts {
		shown[i] = texts[i]
		if secret && utf8.RuneCountInString(texts[i]) > 1 {
			shown[i] = "…"
		}
	}
	if secret {
		format += "; the line is not shown, since it may have the secret"
	}
	return fmt.Sprintf(format, shown...)
}

// ofParser returns the message of a parser about a line, unless it may quote a secret: it may quote that line,
// the next one, or lines that it names. Line 0 is unknown.
func (s syntax) ofParser(line int, message string) string {
	lines := []int{line, line + 1}
	for _, found := range parserLine.FindAllStringSubmatch(message, -1) {
		n, _ := strconv.Atoi(found[1])
		lines = append(lines, n)
	}
	for n := range s.source {
		if line == 0 {
			lines = append(lines, n+1)
		}
	}
	switch {
	case !slices.ContainsFunc(lines, func(n int) bool { return s.isNearSecret(n) }):
		return message
	case strings.Contains(message, "already"):
		return "a key is duplicated; the line is not shown, since it may have the secret"
	}
	return "the value cannot be read: write it in single quotes; it is not shown, since it may be the secret"
}

// lineOf returns a line by its number, "" if there is none.
func lineOf(source []string, n int) string {
	if n < 1 || n > len(source) {
		return ""
	}
	return source[n-1]
}

// lineWithTab returns the number of the first line indented by a tab, 0 for none.
func lineWithTab(text []byte) int {
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if strings.HasPrefix(strings.TrimLeft(line, " "), "\t") && strings.TrimSpace(line) != "" {
			return n
		}
	}
	return 0
}

// Patterns of common mistakes in a line of YAML or TOML.
var (
	aliasInYAML    = regexp.MustCompile(`(?:^|[\s\[{,])(\*[^\s,\]}]+)`)
	otherInYAML    = regexp.MustCompile("(?:^|[\\s\\[{,])([%@`][^,\\]}]*)")
	tableInYAML    = regexp.MustCompile(`(?:: |- |^\s*)(\{[+#./;?&]?\w+\*?\}\S+)`)
	bracesInYAML   = regexp.MustCompile(`([^\s\[{,:"']\{|[:,]\{\w)`)
	colonInYAML    = regexp.MustCompile(`^\s*(?:- )?[\w.-]+:\s+([^"'\s\[{#][^#]*: .*?)\s*$`)
	spaceInYAML    = regexp.MustCompile(`(?:^ *|[:-] *)([\x{a0}\x{202f}\x{2007}])`)
	quotedInYAML   = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	openInYAML     = regexp.MustCompile(`:\s+([\[{])[^\]}]*$`)
	escapeInQuotes = regexp.MustCompile(`"[^"]*(\\.)[^"]*"`)
	unquotedInTOML = regexp.MustCompile(`^\s*([\w.-]+)\s*=\s*([^"'\[{\s#][^#]*?)\s*(?:#.*)?$`)
	colonInTOML    = regexp.MustCompile(`^\s*([\w.-]+)\s*:\s*(.*?)\s*$`)
	elementInTOML  = regexp.MustCompile(`[\[,]\s*([^"'\[{\s\],\d+-][^,\]]*)`)
	numberInTOML   = regexp.MustCompile(`(?:^|[=\[,\s])([+-]?0\d+)`)
)

// explainYAML returns the position of an error of the YAML parser, as far as it is known, and a message with a
// suggestion.
func (s syntax) explainYAML(line int, message string) (Position, string) {
	message = strings.ReplaceAll(strings.TrimPrefix(message, "yaml: unmarshal errors:\n  "), "\n ", ";")
	message = strings.TrimPrefix(message, "yaml: ")
	message = strings.TrimPrefix(message, fmt.Sprintf("line %d: ", line))
	has := func(part string) bool { return strings.Contains(message, part) }
	for _, known := range inYAML {
		if !has(known.says) {
			continue
		}
		if at, text := findInYAML(s.source, line, known.has); at.Line > 0 {
			return at, s.quote(at.Line, known.write, text)
		}
	}
	switch {
	case has("mapping values"):
		return Position{Line: line}, "the line is indented more than its section, or the line above has a value already"
	case has("expected ':'"):
		return Position{Line: line}, "the name of a setting is not followed by a colon and a space"
	case has("cannot unmarshal"):
		return Position{Line: 1},
			"the file is not a table: write sections, and below each its settings, such as dns: and timeout: 5s"
	case has("unexpected end of stream"):
		return Position{Line: line}, "a quotation mark is not closed in this line, or below it"
	case has("did not find expected key"):
		message += ": a line near this one is indented differently, or has text after a quotation mark"
	default:
		message = s.ofParser(line, message)
	}
	return Position{Line: line}, message
}

// inYAML maps messages of the YAML parser, and a pattern that the line contains, to suggestions. The group of
// the pattern is inserted.
var inYAML = []struct {
	says  string
	has   *regexp.Regexp
	write string
}{
	{"alphabetic or numeric", aliasInYAML, "* begins an alias in YAML: write '%s'"},
	{"unknown anchor", aliasInYAML, "* begins an alias in YAML, and there is no anchor of that name above: write '%s'"},
	{"cannot start any token", otherInYAML, "a value cannot begin like this in YAML: write '%s'"},
	{
		"unknown escape", escapeInQuotes,
		"%s in double quotes is not a valid escape in YAML: write the value in single quotes",
	},
	{
		"',' or '", bracesInYAML,
		"in {} and [], braces, brackets and commas end a value, here at %s: write it in quotes, as in " +
			"'https://example.org/{+nss}'",
	},
	{"',' or '", openInYAML, "the %s in this line is not closed"},
	{"node content", openInYAML, "the %s in this line is not closed"},
	{
		"expected ':'", spaceInYAML,
		"there is a no-break space (%+q), which YAML does not treat as a space: write a plain one",
	},
	{"mapping values", colonInYAML, "a colon and a space end the name of a setting: write '%s'"},
	{"did not find expected", tableInYAML, "{ begins a table in YAML: write '%s'"},
}

// findInYAML returns the position of the first match of a pattern, and its group. It starts a line before that
// which the parser reports, because the parser reports the line where a construct starts, or the one before it.
func findInYAML(source []string, line int, pattern *regexp.Regexp) (at Position, text string) {
	for n := max(line-1, 1); n <= len(source); n++ {
		code, _, _ := strings.Cut(source[n-1], " #")
		if pattern != escapeInQuotes {
			code = quotedInYAML.ReplaceAllStringFunc(code,
				func(quoted string) string { return "'" + strings.Repeat(" ", len(quoted)-2) + "'" })
		}
		if found := pattern.FindStringSubmatchIndex(code); found != nil &&
			!strings.HasPrefix(strings.TrimSpace(code), "#") {
			return Position{n, 1 + utf8.RuneCountInString(code[:found[2]])}, strings.Trim(code[found[2]:found[3]], " ")
		}
	}
	return Position{}, ""
}

// whereInTOML returns the line of an error of the TOML parser without position, such as that of a duplicate
// key: the first line up to which the file fails with that error.
func whereInTOML(source []string, message string) int {
	return 1 + sort.Search(len(source)-1, func(n int) bool {
		var values map[string]any
		err := toml.Unmarshal([]byte(strings.Join(source[:n+1], "\n")), &values)
		return err != nil && err.Error() == message
	})
}

// explainTOML returns a message with a suggestion for a line where the TOML parser failed.
func (s syntax) explainTOML(at int, message string) string {
	line := lineOf(s.source, at)
	message = strings.TrimPrefix(message, "toml: ")
	has := func(part string) bool { return strings.Contains(message, part) }
	if number := numberInTOML.FindStringSubmatch(line); number != nil && !has("escape") && !s.isNearSecret(at) {
		return NotDecimal(number[1])
	}
	if has("escape") {
		if found := escapeInQuotes.FindStringSubmatch(line); found != nil {
			return s.quote(at, "%s in double quotes is not a valid escape in TOML: write the value in single quotes",
				found[1])
		}
	}
	code, _, _ := strings.Cut(line, " #")
	if i := strings.IndexAny(code, typographic); i >= 0 {
		c, _ := utf8.DecodeRuneInString(code[i:])
		return fmt.Sprintf("%c is not a quotation mark in TOML: write \" or '", c)
	}
	if i := strings.IndexFunc(code, func(c rune) bool { return invisible(c) != "" }); i >= 0 {
		c, _ := utf8.DecodeRuneInString(code[i:])
		return invisible(c)
	}
	if found := unquotedInTOML.FindStringSubmatch(line); found != nil {
		return s.quote(at, `texts are in quotes in TOML: write %s = "%s"`, found[1], found[2])
	}
	if found := colonInTOML.FindStringSubmatch(line); found != nil {
		return s.quote(at, "TOML uses = in place of the colon after the name of a setting: write %s = %s", found[1],
			found[2])
	}
	if found := elementInTOML.FindStringSubmatch(line); found != nil && strings.Contains(line, "=") && !has("already") {
		return s.quote(at, `texts are in quotes in TOML: write "%s"`, strings.TrimSpace(found[1]))
	}
	return s.ofParser(at, message)
}
