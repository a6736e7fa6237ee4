package promise

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// schema is the part of a JSON Schema that is used.
type schema struct {
	Type       any
	Properties map[string]*schema
	Items      *schema
	Default    any
	Enum       []any
	Comment    string `json:"$comment"`
	Pattern    string
	Minimum    json.Number
	Maximum    json.Number
}

// gatherSettings reads the schema that urnd prints, and determines the environment variables that it reads.
func gatherSettings(t *testing.T, p *program) []string {
	var all schema
	decode(t, p.must(t, "config", "schema"), &all)
	variables, hidden := p.variables(t), declarations()
	var lines []string
	var add func(path string, s *schema)
	add = func(path string, s *schema) {
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			inner := s.Properties[name]
			below := strings.TrimPrefix(path+"."+name, ".")
			if inner.Properties == nil {
				line := below + " " + inner.describe(strings.Contains(below, "*"))
				if variables[below] != "" {
					line += " env=" + variables[below]
				}
				lines = append(lines, line+hidden[below])
			}
			add(below, inner)
			if inner.Items != nil {
				add(below+".*", inner.Items)
			}
		}
	}
	add("", &all)
	return lines
}

// describe returns the type, the default and the allowed values of a setting.
func (s *schema) describe(isElement bool) string {
	line := s.kind()
	if !isElement {
		line += " default=" + compact(s.Default)
	}
	of := s
	for of.Items != nil {
		of = of.Items
	}
	switch {
	case of.Enum != nil:
		line += " values=" + compact(of.Enum)
	case of.Comment != "":
		line += " values=" + compact(of.Comment)
	case of.Minimum != "" || of.Maximum != "":
		line += fmt.Sprintf(" values=%q", of.Minimum+" to "+of.Maximum)
	}
	return line
}

// kind returns the type of a value as text.
func (s *schema) kind() string {
	switch {
	case strings.Contains(s.Pattern, "ns|us"):
		return "duration"
	case strings.Contains(s.Pattern, "[KMGTPE"):
		return "size"
	case s.Pattern != "":
		return "text " + compact(s.Pattern)
	case s.Items != nil && len(s.Items.Properties) > 0:
		return words(s.Type) + " of tables"
	case s.Items != nil:
		return words(s.Type) + " of " + s.Items.kind()
	default:
		return words(s.Type)
	}
}

// words returns the types of a schema, joined.
func words(types any) string {
	several, ok := types.([]any)
	if !ok {
		return fmt.Sprint(types)
	}
	var all []string
	for _, one := range several {
		all = append(all, fmt.Sprint(one))
	}
	return strings.Join(all, "|")
}

// variables returns the environment variable of each setting according to the output of urnd.
func (p *program) variables(t *testing.T) map[string]string {
	t.Helper()
	var environment []string
	for line := range strings.Lines(p.must(t, "config", "show", "--all", "--origin")) {
		path, rest, _ := strings.Cut(line, " ")
		value, _, _ := strings.Cut(strings.TrimSpace(rest), " (default)")
		if strings.HasPrefix(value, "[") { // lists are joined by commas
			value = strings.NewReplacer("[", "", "]", "", "'", "", `"`, "", ", ", ",").Replace(value)
		}
		environment = append(environment, variable(path)+"="+strings.Trim(value, `"`))
	}
	read := make(map[string]string)
	r := p.run(t, environment, "config", "show", "--all", "--origin")
	if r.status != 0 {
		t.Fatal(r.stderr)
	}
	for line := range strings.Lines(r.stdout) {
		path, _, _ := strings.Cut(line, " ")
		if _, name, ok := strings.Cut(line, "(environment "); ok {
			read[path] = strings.TrimRight(name, ")\n")
		}
	}
	return read
}

// variable returns the environment variable of a setting.
func variable(path string) string {
	return "URND_" + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// declarations returns the properties of settings that no output contains: whether it may hold a secret, and
// which state a reload discards. It is the only function of this package that depends on a package of urnd.
func declarations() map[string]string {
	names := []struct {
		of   config.Contents
		name string
	}{
		{config.Records, "records"},
		{config.Answers, "answers"},
		{config.Snapshot, "snapshot"},
		{config.Responses, "responses"},
		{config.Disk, "disk"},
		{config.Store, "store"},
	}
	all := make(map[string]string)
	for _, s := range config.Settings() {
		var lost []string
		for _, n := range names {
			if s.Invalidates == 0 || s.Invalidates&n.of != 0 {
				lost = append(lost, n.name)
			}
		}
		if lost == nil {
			lost = []string{"nothing"}
		}
		all[s.Path] = " reload-invalidates=" + strings.Join(lost, ",")
		if s.Secret {
			all[s.Path] = " secret" + all[s.Path]
		}
	}
	for _, s := range config.Elements() {
		if s.Secret {
			all[s.Path] = " secret"
		}
	}
	return all
}

// decode reads JSON.
func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
}

// compact returns a value as JSON in one line.
func compact(value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // decoded values can be encoded
	return strings.TrimSpace(b.String())
}
