package source

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// writing is the values of a file that the parser reads differently from what the writer probably meant.
type writing struct {
	schema   Schema
	failures Diagnostics
	raw      []string // path of each diagnostic as in messages of the decoder
	// commas are keys without a value in {}, by path: a comma may have ended the value of the preceding key.
	commas  map[string]string
	anchors []anchor
	used    map[*yaml.Node]bool // nodes that an alias refers to
}

// anchor is a node with an anchor, and its path.
type anchor struct {
	path string
	node *yaml.Node
}

func writtenInYAML(root *yaml.Node, schema Schema) writing {
	w := writing{schema: schema, used: make(map[*yaml.Node]bool), commas: make(map[string]string)}
	w.walk("", root)
	for _, a := range w.anchors {
		if !w.used[a.node] && a.node.Kind == yaml.ScalarNode {
			w.add(a.path, positionOf(a.node),
				"& begins an anchor in YAML, which is never referenced: if it is part of the value, "+
					"write '&"+
					w.shown(a.path, a.node.Anchor)+"'")
		}
	}
	return w
}

func (w *writing) add(path string, at Position, message string) {
	w.raw = append(w.raw, path)
	w.failures = append(w.failures,
		Diagnostic{Position: at, Path: strings.Map(withoutOdd, w.schema.withoutSecretKeys(path)), Message: message})
}

// addNumber adds a diagnostic for a TOML number that is not decimal.
func (w *writing) addNumber(path string, at Position, number string) {
	switch message := NotDecimal(number); {
	case message == "":
	case w.schema.MayHoldSecret(path):
		w.add(path, at, "is a number: write it in quotes; its value is not shown, since it may be the secret")
	default:
		w.add(path, at, message)
	}
}

func positionOf(node *yaml.Node) Position { return Position{node.Line, node.Column} }

// shown returns a part of the value at a path, or a placeholder if it may be a secret.
func (w *writing) shown(path, text string) string {
	if w.schema.MayHoldSecret(path) {
		return "…"
	}
	return text
}

// withoutSecretKeys truncates a path after a setting that may hold a secret by mistake: keys below it may be
// the secret.
func (s Schema) withoutSecretKeys(path string) string {
	parts := strings.Split(path, ".")
	if i := slices.IndexFunc(parts, func(part string) bool { return s.SecretNames[part] }); i >= 0 {
		parts = parts[:i+1]
	}
	return strings.Join(parts, ".")
}

// walk checks a node and its descendants. The target of an alias is checked where it is defined.
func (w *writing) walk(path string, node *yaml.Node) {
	if node.Anchor != "" {
		w.anchors = append(w.anchors, anchor{path, node})
	}
	switch node.Kind {
	case yaml.AliasNode:
		w.used[node.Alias] = true
	case yaml.ScalarNode:
		switch message := wrongScalar(node); {
		case message == "" && noSpaceBehindColon.MatchString(node.Value) && w.schema.IsTable(path):
			w.add(path, positionOf(node), invisible('\u00a0'))
		case message == "":
		case w.schema.MayHoldSecret(path):
			w.add(path, positionOf(node),
				"begins or ends with characters that YAML interprets: write it in single quotes; its value "+
					"is not shown, since it may be the secret")
		case isNumeric(node) && w.schema.IsText(path):
			w.add(path, positionOf(node), fmt.Sprintf("%s, or '%s'", message, node.Value))
		default:
			w.add(path, positionOf(node), message)
		}
	case yaml.SequenceNode:
		for i, element := range node.Content {
			w.walk(path+"."+strconv.Itoa(i), element)
		}
	case yaml.MappingNode:
		w.table(path, node)
	}
}

// table checks the keys of a table, and their values.
func (w *writing) table(path string, node *yaml.Node) {
	isFlow := node.Style&yaml.FlowStyle != 0
	if isFlow && len(node.Content) == 2 && isWithoutValue(node.Content[1]) && path != "" && !w.schema.IsTable(path) {
		text := "{" + w.shown(path, node.Content[0].Value) + "}"
		w.add(path, positionOf(node), text+" is a table in YAML: write '"+text+"'")
		return
	}
	before := "" // last key with a value
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		at := strings.TrimPrefix(path+"."+strings.ToLower(key.Value), ".") // viper converts keys to lower case
		switch message := w.wrongKey(at, key.Value); {
		case message != "":
			w.add(at, positionOf(key), message)
		case path == "" && !w.schema.IsTable(at) && hasAnchor(value):
			w.add(at, positionOf(key),
				"an anchor cannot have a section of its own: write it at the first use of the value, such as "+
					"proxy_clients: &lan [10.0.0.0/8], and *lan at the next")
		case isFlow && isWithoutValue(value):
			w.commas[at] = before
		}
		w.walk(at, value)
		if !isWithoutValue(value) {
			before = at
		}
	}
}

// wrongKey returns a message for a key with unintended characters, "" for none.
func (w *writing) wrongKey(path, key string) string {
	message := wrongText(key)
	if message != "" && w.schema.MayHoldSecret(path) {
		return "the key contains an unintended character; it is not shown, since it may be the secret"
	}
	return message
}

// isWithoutValue reports whether a key has no value.
func isWithoutValue(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.Tag == "!!null" && node.Value == ""
}

func hasAnchor(node *yaml.Node) bool {
	return node.Anchor != "" || slices.ContainsFunc(node.Content, hasAnchor)
}

// wrongScalar returns a message for a text or number that is read differently from what was meant, "" for none.
func wrongScalar(node *yaml.Node) string {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	switch {
	case strings.HasPrefix(node.Tag, "!") && !strings.HasPrefix(node.Tag, "!!"):
		return "! begins a tag in YAML, which is not part of the value: write '" +
			strings.TrimSpace(node.Tag+" "+node.Value) + "'"
	case node.Style&quoted != 0:
		return ""
	case isNumeric(node):
		return NotDecimal(node.Value)
	}
	return wrongText(node.Value)
}

func isNumeric(node *yaml.Node) bool { return node.Tag == "!!int" || node.Tag == "!!float" }

// NotDecimal returns a message for a number that programs read as octal, binary or hexadecimal, "" for others.
func NotDecimal(number string) string {
	digitsOf := strings.TrimLeft(number, "+-")
	if len(digitsOf) < 2 || digitsOf[0] != '0' {
		return ""
	}
	if strings.Trim(digitsOf, "0123456789_") == "" {
		decimal := strings.TrimLeft(digitsOf, "0_")
		if number[0] == '-' && decimal != "" {
			decimal = "-" + decimal
		}
		return fmt.Sprintf("%s begins with 0, like an octal number: write %s", number, cmp.Or(decimal, "0"))
	}
	if n, err := strconv.ParseInt(number, 0, 64); err == nil {
		return fmt.Sprintf("%s is not a decimal number: write %d", number, n)
	}
	return ""
}

// typographic are typographic quotation marks, which have no meaning in YAML and TOML.
const typographic = "“”„‟‘’‚‛«»‹›"

// wrongText returns a message for an unquoted text with unintended characters, "" for none.
func wrongText(text string) string {
	if !strings.ContainsFunc(text, func(c rune) bool { return c >= utf8.RuneSelf }) {
		return ""
	}
	if bad := invisibleIn(text); bad != "" {
		return bad
	}
	first, size := utf8.DecodeRuneInString(text)
	if !strings.ContainsRune(typographic, first) || size == len(text) {
		return ""
	}
	inner := text[size:]
	end := strings.IndexAny(inner, typographic+`"'`)
	if isApostrophe := strings.ContainsRune("’‘‛", first); end < 0 && isApostrophe { // such as 's-Gravenhage
		return ""
	} else if end < 0 {
		end = len(inner)
	} else if _, size := utf8.DecodeRuneInString(inner[end:]); end+size < len(inner) {
		return "" // a text that contains a quotation
	}
	return fmt.Sprintf("%c is not a quotation mark in YAML, but part of the value: write \"%s\", or '%s' if it "+
		"belongs to it", first,
		inner[:end], text)
}

// invisible returns a message for a character that looks like a space or is invisible, "" for others.
func invisible(c rune) string {
	switch c {
	case '\u00a0', '\u202f', '\u2007':
		return fmt.Sprintf("there is a no-break space (%U), which YAML and TOML do not treat as a space: write a "+
			"plain one", c)
	case '\u200b', '\u2060', '\ufeff':
		return fmt.Sprintf("there is an invisible character (%U): delete it", c)
	}
	return ""
}

// withoutOdd drops characters from the path of a key that no key has.
func withoutOdd(c rune) rune {
	if invisible(c) != "" || strings.ContainsRune(typographic, c) {
		return -1
	}
	return c
}

// outerSpace matches a no-break space where YAML has syntactic spaces: around a value, and after the hyphen of
// a list element. noSpaceBehindColon matches a text that is not a key because of one.
var (
	outerSpace         = regexp.MustCompile(`^-?[\x{a0}\x{202f}\x{2007}]|[\x{a0}\x{202f}\x{2007}]$`)
	noSpaceBehindColon = regexp.MustCompile(`^[\w.-]+:[\x{a0}\x{202f}\x{2007}]`)
)

// invisibleIn returns a message for an invisible character of a text, "" for none. No-break spaces within a
// text are allowed.
func invisibleIn(text string) string {
	if found := outerSpace.FindString(text); found != "" {
		c, _ := utf8.DecodeRuneInString(strings.TrimLeft(found, "-"))
		return invisible(c)
	}
	if i := strings.IndexAny(text, "\u200b\u2060\ufeff"); i >= 0 {
		c, _ := utf8.DecodeRuneInString(text[i:])
		return invisible(c)
	}
	return ""
}

// instead replaces diagnostics of the decoder by those found in the text of the file, for the same paths.
func (w writing) instead(failures Diagnostics, file, unknown string) Diagnostics {
	for i := range w.failures {
		w.failures[i].File = file
	}
	isWritten := func(f Diagnostic) bool {
		return slices.ContainsFunc(w.raw,
			func(path string) bool { return f.Path == path || strings.HasPrefix(f.Path, path+".") })
	}
	failures = slices.DeleteFunc(failures, isWritten)
	for i, f := range failures {
		if before, ok := w.commas[f.Path]; ok && strings.HasPrefix(f.Message, unknown) {
			if w.schema.MayHoldSecret(before) {
				failures[i].Path = before // the key is a part of its value
			}
			failures[i].Message = "in {} a comma ends a value: write the value before it in quotes, or several as a " +
				"list in []"
		}
	}
	return append(w.failures, failures...)
}
