package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const exampleHead = "urnd.yaml: every setting of urnd, with its default. A file needs only the " +
	"settings that differ. The same keys work in TOML. The environment overrides the file (dns.timeout is " +
	"URND_DNS_TIMEOUT; lists are joined by commas), and flags override the environment. Check a " +
	"file with: urnd config check FILE"

// width is the maximum line width of an example.
const width = 88

// Example returns a complete, commented configuration file in YAML with the defaults.
func Example() string {
	var b strings.Builder
	comment(&b, "", exampleHead)
	values := leaves(Default())
	for _, s := range Settings() {
		section, leaf, isLeaf := strings.Cut(s.Path, ".")
		if !isLeaf {
			b.WriteByte('\n')
			comment(&b, "", s.Doc)
			sample(&b, "", s.Sample)
			b.WriteString(section + ":")
			if s.IsSection() {
				b.WriteByte('\n')
			} else {
				b.WriteString(" " + scalar(values[s.Path]) + "\n")
			}
			continue
		}
		comment(&b, "  ", withBound(s))
		sample(&b, "  ", s.Sample)
		fmt.Fprintf(&b, "  %s: %s\n", leaf, scalar(values[s.Path]))
	}
	return b.String()
}

// CommentedExample returns Example with all settings commented out by "#" without a following space: a file
// that sets nothing.
func CommentedExample() string {
	var b strings.Builder
	comment(&b, "", "Uncomment a setting, and its section, to change it.")
	b.WriteByte('\n')
	for line := range strings.Lines(Example()) {
		if text := strings.TrimSpace(line); text != "" && text[0] != '#' {
			b.WriteByte('#')
		}
		b.WriteString(line)
	}
	return b.String()
}

// withBound adds the allowed values to the documentation of a setting.
func withBound(s Setting) string {
	bound := s.DescribeBounds()
	if bound == "" || bound == s.Form { // Doc describes it
		return s.Doc
	}
	return s.Doc + " (" + bound + ")"
}

func comment(b *strings.Builder, indent, text string) {
	for _, line := range wrap(text, width-len(indent)-2) {
		b.WriteString(indent + "# " + line + "\n")
	}
}

func sample(b *strings.Builder, indent, text string) {
	if text == "" {
		return
	}
	for line := range strings.Lines(text) {
		b.WriteString(indent + "# " + strings.TrimSuffix(line, "\n") + "\n")
	}
}

// wrap breaks text into lines at spaces.
func wrap(text string, most int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > most {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// scalar formats a value on one line of YAML.
func scalar(value any) string {
	node := new(yaml.Node)
	if err := node.Encode(ToPlain(value)); err != nil {
		return "null" // unreachable for values of settings
	}
	flow(node)
	text, err := yaml.Marshal(node)
	if err != nil {
		return "null"
	}
	return strings.TrimSpace(string(text))
}

func flow(node *yaml.Node) {
	if node.Kind == yaml.SequenceNode {
		node.Style |= yaml.FlowStyle
	}
	for _, child := range node.Content {
		flow(child)
	}
}

// ToPlain returns a value of the configuration as in files: texts, numbers, booleans, lists and maps.
func ToPlain(value any) any {
	switch v := value.(type) {
	case time.Duration, Size:
		return show(v)
	case encoding.TextMarshaler:
		text, err := v.MarshalText()
		if err == nil {
			return string(text)
		}
	case map[string]any:
		plain := make(map[string]any, len(v))
		for key, inner := range v {
			plain[key] = ToPlain(inner)
		}
		return plain
	}
	if list := reflect.ValueOf(value); list.Kind() == reflect.Slice {
		plain := make([]any, list.Len())
		for i := range plain {
			plain[i] = ToPlain(list.Index(i).Interface())
		}
		return plain
	}
	return value
}

// Value is a setting with its value in a configuration.
type Value struct {
	Setting
	Value     any    // as in files: texts, numbers, booleans, lists and maps
	Text      string // the same on one line
	IsDefault bool
	Origin    Origin
	// Credential is the systemd credential (LoadCredential) that the value names, "" for none.
	Credential string
}

// Source returns a text about the origin.
func (v Value) Source() string {
	if v.Credential != "" {
		return v.Origin.String() + ", credential " + v.Credential
	}
	return v.Origin.String()
}

// Values returns all settings of a configuration except sections, with their origins, in file order. It
// contains no secrets, which are in files.
func (c Config) Values(origins Origins) []Value {
	in, defaults := leaves(c), leaves(Default())
	var all []Value
	for _, s := range Settings() {
		value, ok := in[s.Path]
		if !ok { // a section
			continue
		}
		v := Value{Setting: s, Origin: origins.Of(s.Path), IsDefault: isSame(value, defaults[s.Path])}
		tables := withTables(value)
		v.Value, v.Text = ToPlain(tables), scalar(tables)
		if text, ok := value.(string); ok {
			if name, ok := strings.CutPrefix(text, CredentialPrefix); ok {
				v.Credential = name
			}
		}
		all = append(all, v)
	}
	return all
}

// isSame reports whether two values of a setting are written the same way: a nil list equals an empty one.
func isSame(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Kind() == reflect.Slice && y.Kind() == reflect.Slice && x.Len() == 0 && y.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a, b)
}
