package pages

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// Every text is in every language, with its place where the English one has it, and is used.
func TestTexts(t *testing.T) {
	used := sources(t)
	all := New(Site{}).texts
	of := reflect.TypeFor[texts]()
	for i := range of.NumField() {
		name := of.Field(i).Name
		if !regexp.MustCompile(`(?:\.T|\$\.T|\bt|words|text\(\))\.` + name + `\b`).MatchString(used) {
			t.Errorf("%s: nothing uses it", name)
		}
		for l, one := range all {
			said, english := reflect.ValueOf(one).Field(i).String(), reflect.ValueOf(all[English]).Field(i).String()
			if said == "" || strings.TrimSpace(said) != said && !strings.Contains(said, "%s") && name != "Colon" {
				t.Errorf("%s in %s: %q", name, Language(l).Tag(), said)
			}
			if strings.Count(said, "%s") != strings.Count(english, "%s") || strings.Count(said, "%") > 1 {
				t.Errorf("%s in %s: %q has other places than %q", name, Language(l).Tag(), said, english)
			}
		}
	}
}

// sources returns the templates and the Go files but those of tests and of texts, as one.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"*.html", "*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "texts") {
				continue
			}
			octets, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(octets)
		}
	}
	return all.String()
}

// Every sentence is in every language, once.
func TestSentences(t *testing.T) {
	seen := make(map[string]bool)
	for _, s := range sentences() {
		if seen[s[English]] {
			t.Errorf("%q is there twice", s[English])
		}
		seen[s[English]] = true
		for l, said := range s {
			if said == "" || strings.TrimSpace(said) != said || strings.HasSuffix(said, ".") || strings.HasSuffix(said, "。") {
				t.Errorf("%q in %s: %q", s[English], Language(l).Tag(), said)
			}
		}
	}
}

// What is said in English is said in the language of the page as far as it has it; the rest is marked.
func TestSay(t *testing.T) {
	d := New(Site{})
	for _, tt := range []struct {
		language       Language
		english        string
		known, another string
	}{
		{English, "name not found: anything", "name not found: anything.", ""},
		{German, "name not found", "Name nicht gefunden.", ""},
		{German, "name not found: the name is not registered", "Name nicht gefunden: der Name ist nicht registriert.", ""},
		{German, "name not found: tried x", "Name nicht gefunden: ", "tried x."},
		{German, "this client sends too many requests (limits.rate)", "dieser Client sendet zu viele Anfragen (limits.rate).", ""},
		{German, "too many requests are running: the limit of fetches is reached (limits.fetches)", "es laufen zu viele Anfragen: die Höchstzahl der Abrufe ist erreicht (limits.fetches).", ""},
		{German, "550 No such file", "", "550 No such file."},
		{German, "anything (x)", "", "anything (x)."},
		{German, "", "", ""},
		{Chinese, "name not found", "未找到名称。", ""},
		{French, "is that so?", "", "is that so?"},
	} {
		if got := d.In(tt.language).stopped(tt.english); got.Known != tt.known || got.English != tt.another {
			t.Errorf("%q in %s: %+v", tt.english, tt.language.Tag(), got)
		}
	}
}
