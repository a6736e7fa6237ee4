package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Find returns the settings for a name: a single one, all of a section, those of that name in any section, or
// one in a list of tables, whose index may be "*". The error for an unknown name suggests a similar one.
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

// isElement reports whether s is a setting in a list of tables.
func (s Setting) isElement() bool { return strings.Contains(s.Path, anyIndex) }

// Variable returns the environment variable of a setting; "" for a section, and for settings in a list of
// tables.
func (s Setting) Variable() string {
	if s.IsSection() || s.isElement() {
		return ""
	}
	return variableOf(s.Path)
}

// OnReload returns a text about what a reload that changes the setting invalidates.
func (s Setting) OnReload() string {
	if s.Invalidates == Nothing {
		return "keeps all caches"
	}
	var lost []string
	for _, c := range []struct {
		contents Contents
		name     string
	}{
		{Records, "DNS records"},
		{Answers, "answers"},
		{Snapshot, "the snapshot of answers"},
		{Responses, "responses"},
		{Disk, "responses on disk"},
		{Store, "the open registry database"},
	} {
		if s.invalidates(c.contents) {
			lost = append(lost, c.name)
		}
	}
	return "discards " + strings.Join(lost, ", ")
}

// Describe returns the documentation of a setting as lines of text: its meaning, its allowed values, its
// default, and its environment variable.
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
	fact("values", s.DescribeBounds())
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

// fileForm is the Form of settings that name a file of secrets or certificates.
const fileForm = "path, or credential: and a name"

// SecretFile is a setting that names a file of secrets or certificates.
type SecretFile struct {
	Path   string // path of the setting
	Name   *string
	Secret bool // others must not be able to read the file; false for a certificate
}

// SecretFiles returns all such settings of a configuration, including empty ones.
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
