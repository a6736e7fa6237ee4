package messages_test

import (
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/text/language"

	"github.com/urnd/urnd/proxy/pages/messages"
)

// inWords returns the sections whose identifiers end with a word of the program: the kind of an item, an
// error code. Tests of the respective packages check that these are complete.
func inWords() []string {
	return []string{
		"kind.", "explain.flag_", "namespace.fold_", "namespace.from_", "listing.empty_", "proxied.proxy_",
		"proxied.fetch_", "import.format_", "media.", "rel.", "language.", "several.do_", "several.field_",
		"several.missing_", "jobs.state_", "jobs.stage_", "jobs.change_",
		"changes.kind_",
		"error.", "rule.", "status.", "noun.", "step.", "stage.", "why.",
		"label.", "edit.label_", "tokens.may_", "tokens.role_", "tokens.is_", "tokens.do_", "editor.status_",
		"dead.state_", "apidoc.group_", "apidoc.in_",
	}
}

func tags() []language.Tag {
	return []language.Tag{
		language.English, language.German, language.French, language.Spanish,
		language.SimplifiedChinese,
	}
}

// read returns the messages of a file by identifier; a plural form has the key identifier.form.
func read(t *testing.T, tag language.Tag) map[string]string {
	t.Helper()
	base, _ := tag.Base()
	text, err := os.ReadFile(base.String() + ".toml")
	if err != nil {
		t.Fatal(err)
	}
	var sections map[string]map[string]any
	if err := toml.Unmarshal(text, &sections); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for section, messages := range sections {
		for id, message := range messages {
			switch m := message.(type) {
			case string:
				all[section+"."+id] = m
			case map[string]any:
				for form, text := range m {
					all[section+"."+id+"."+form], _ = text.(string)
				}
			}
		}
	}
	return all
}

// identifier returns the identifier of a message without its plural form.
func identifier(id string) string {
	parts := strings.Split(id, ".")
	return strings.Join(parts[:2], ".")
}

// Every message is in every language, with the same placeholders, and with the plural forms of the language.
func TestTranslations(t *testing.T) {
	english := read(t, language.English)
	texts, err := messages.New(tags()...)
	if err != nil {
		t.Fatal(err)
	}
	place := regexp.MustCompile(`\{\{\.[A-Z][A-Za-z]*\}\}`)
	values := func(text string) []string {
		return slices.Compact(slices.Sorted(slices.Values(place.FindAllString(text, -1))))
	}
	for i, tag := range tags() {
		translated := read(t, tag)
		has := make(map[string]string)
		for id, text := range translated {
			if text == "" || strings.Contains(place.ReplaceAllString(text, ""), "{{") {
				t.Errorf("%s: %s: %q", tag, id, text)
			}
			has[identifier(id)] = text
			if strings.HasPrefix(id, "space") { // see TestNamespaces
				continue
			}
			if !slices.ContainsFunc(slices.Collect(maps.Keys(english)),
				func(e string) bool { return identifier(e) == identifier(id) }) {
				t.Errorf("%s: %s is not a message in English", tag, id)
			}
		}
		for id, text := range english {
			if got, ok := has[identifier(id)]; !ok {
				t.Errorf("%s: %s is not translated: %q", tag, identifier(id), text)
			} else if !slices.Equal(values(text), values(got)) {
				t.Errorf("%s: %s has %q, in English %q", tag, identifier(id), got, text)
			}
			if id == identifier(id) {
				continue
			}
			for _, n := range []int{0, 1, 2, 5, 1_000_000} {
				if got := texts[i].Text(identifier(id), "Count", n); got == identifier(id) {
					t.Errorf("%s: %s has no form for %d", tag, identifier(id), n)
				}
			}
		}
	}
}

// The texts about a namespace in one language exist in all, for a namespace with an English text in package
// urnns.
func TestNamespaces(t *testing.T) {
	text, err := os.ReadFile("../../../urnns/iana.json")
	if err != nil {
		t.Fatal(err)
	}
	of := func(tag language.Tag) []string {
		var ids []string
		for id := range read(t, tag) {
			if section, nid, _ := strings.Cut(id, "."); strings.HasPrefix(section, "space") {
				ids = append(ids, id)
				if !strings.Contains(string(text), `{"nid": "`+nid+`", "title": "`) {
					t.Errorf("%s: %s is not a namespace", tag, nid)
				}
			}
		}
		return slices.Sorted(slices.Values(ids))
	}
	first := of(tags()[1])
	if len(first) < 50 || len(of(language.English)) > 0 {
		t.Errorf("%q", first)
	}
	for _, tag := range tags()[2:] {
		if got := of(tag); !slices.Equal(got, first) {
			t.Errorf("%s: %q, want %q", tag, got, first)
		}
	}
}

// Each message that pages use exists, and each one is used.
func TestMessagesAreUsed(t *testing.T) {
	english := make(map[string]bool)
	for id := range read(t, language.English) {
		english[identifier(id)] = true
	}
	named := regexp.MustCompile(`(?:\bt|\.T|\.Text) ?\(?"([a-z_]+\.[a-z0-9_]*[a-z0-9])"`)
	var source strings.Builder
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if isSource := strings.HasSuffix(path, ".html") || strings.HasSuffix(path, ".go"); err != nil || !isSource ||
			strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		for _, match := range named.FindAllStringSubmatch(string(text), -1) {
			if !english[match[1]] {
				t.Errorf("%s: %s is not a message", path, match[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range english {
		isWord := slices.ContainsFunc(inWords(), func(before string) bool { return strings.HasPrefix(id, before) })
		if !isWord && !strings.Contains(source.String(), `"`+id+`"`) {
			t.Errorf("%s is used nowhere", id)
		}
	}
}

// Values of a message are escaped, except for elements, and numbers are formatted by the rules of the
// language.
func TestText(t *testing.T) {
	all, err := messages.New(tags()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ got, want string }{
		{all[0].Text("names.count", "Count", 1), "1 name"},
		{all[1].Text("names.count", "Count", 12345), "12.345 Namen"},
		{all[2].Text("names.count", "Count", 0), "0 nom"},
		{all[4].Text("names.count", "Count", 2), "2 个名称"},
		{string(all[0].T("problem.did_you_mean", "Names", "<b> {{.Names}}")), "Did you mean &lt;b&gt; {{.Names}}?"},
		{string(all[0].T("problem.did_you_mean", "Names", template.HTML("<b>"))), "Did you mean <b>?"},
		{all[0].Text("names.never"), "names.never"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}
