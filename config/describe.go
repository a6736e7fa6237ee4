package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Find returns the settings that a name means: one, all of a section, those of that name in any section, or one in the tables of a list,
// whose numbers may be "*". What is no setting is an error that says which is meant.
func Find(name string) (found []Setting, err error) {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		if _, err := strconv.Atoi(part); err == nil {
			parts[i] = anyIndex
		}
	}
	path := strings.Join(parts, ".")
	for _, matches := range []func(Setting) bool{
		func(s Setting) bool { return s.Path == path || !s.isElement() && strings.HasPrefix(s.Path, path+".") },
		func(s Setting) bool { return !s.isElement() && strings.HasSuffix(s.Path, "."+path) },
	} {
		for _, s := range slices.Concat(Settings(), Elements()) {
			if matches(s) {
				found = append(found, s)
			}
		}
		if found != nil {
			return found, nil
		}
	}
	return nil, fmt.Errorf("%s: %s", name, unknownSetting(name))
}

// isElement reports whether s is in the tables of a list.
func (s Setting) isElement() bool { return strings.Contains(s.Path, anyIndex) }

// Variable returns the environment variable of a setting, "" of a section, and of what is in tables of a list.
func (s Setting) Variable() string {
	if s.IsSection() || s.isElement() {
		return ""
	}
	return variableOf(s.Path)
}

// OnReload says what a reload throws away that changes the setting.
func (s Setting) OnReload() string {
	if s.Invalidates == Nothing {
		return "keeps all that is cached"
	}
	var lost []string
	for _, c := range []struct {
		contents Contents
		name     string
	}{
		{Records, "DNS records"},
		{Answers, "answers"},
		{Snapshot, "saved answers"},
		{Responses, "responses"},
		{Disk, "responses on disk"},
		{Store, "the open store of the registry"},
	} {
		if s.invalidates(c.contents) {
			lost = append(lost, c.name)
		}
	}
	return "throws away " + strings.Join(lost, ", ")
}

// Describe returns what people are told of a setting, in lines: what it means, what it may be, and in its section by what else it is set.
func (s Setting) Describe() string {
	var b strings.Builder
	b.WriteString(s.Path + "\n")
	for _, line := range wrap(s.Doc, width-2) {
		b.WriteString("  " + line + "\n")
	}
	fact := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-9s %s\n", name+":", text)
		}
	}
	fact("values", s.Bound())
	if variable := s.Variable(); variable != "" {
		fact("default", Default().Text(s.Path))
		fact("variable", variable)
		fact("reload", s.OnReload())
	}
	for _, e := range s.elements() {
		fact(e.Path, e.Doc)
	}
	for line := range strings.Lines(s.Sample) {
		b.WriteString("  # " + line)
	}
	if s.Sample != "" {
		b.WriteByte('\n')
	}
	return b.String()
}
