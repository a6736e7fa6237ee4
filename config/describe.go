package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Find returns the settings that a name means: one, all of a section, those of that name in any section, or one in the tables of a list,
// whose numbers may be "*". What is no setting is an error that says which is meant.
func Find(name string) (found []Setting, err error) {
	path := withAnyIndex(name)
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

// fileForm is the form of settings that name a file of secrets or certificates.
const fileForm = "path, or credential: and a name"

// SecretFile is a setting that names a file of secrets or certificates.
type SecretFile struct {
	Path   string // of the setting
	Name   *string
	Secret bool // others may not read it: it is no certificate
}

// SecretFiles returns all of a configuration, also those that are empty.
func (c *Config) SecretFiles() (all []SecretFile) {
	declared := make(map[string]Setting)
	for _, s := range slices.Concat(Settings(), Elements()) {
		if s.Form == fileForm {
			declared[s.Path] = s
		}
	}
	var visit func(path string, value reflect.Value)
	visit = func(path string, value reflect.Value) {
		switch {
		case isSection(value.Type()):
			for key, i := range fieldNumbers(value.Type()) {
				visit(strings.TrimPrefix(path+"."+key, "."), value.Field(i))
			}
		case value.Kind() == reflect.Slice && isSection(value.Type().Elem()):
			for i := range value.Len() {
				visit(index(path, i), value.Index(i))
			}
		default:
			s, isFile := declared[withAnyIndex(path)]
			if name, ok := value.Addr().Interface().(*string); ok && isFile {
				all = append(all, SecretFile{path, name, s.Secret})
			}
		}
	}
	visit("", reflect.ValueOf(c).Elem())
	slices.SortFunc(all, func(a, b SecretFile) int { return strings.Compare(a.Path, b.Path) })
	return all
}
