package field_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// step is a step of adding a field to an entry, as CONTRIBUTING.md describes it: the text to insert after
// another text of a file, and the test that fails if the step is omitted.
type step struct {
	name    string
	edits   []edit
	of      string // the package of the test
	forgets string // the test that fails
}

type edit struct{ file, after, text string }

// newField returns the steps of adding the field Steward to records.
func newField() []step {
	const registry, fields = "resolver/registry/", "./resolver/registry/field"
	return []step{
		{"the struct", []edit{{ // the module does not compile without it
			registry + "entry.go",
			"	Contact  string // person or office to contact: a name, a mail address or a URI\n",
			"	Steward  string // person or office that takes care of it\n",
		}}, "", ""},
		{"Equal", []edit{
			{registry + "entry.go", "r.Contact == other.Contact", " && r.Steward == other.Steward"},
		}, fields, "TestEqual/Record.Steward"},
		{"the column", []edit{
			{registry + "store/schema/00001_registry.sql", "    contact       TEXT,\n", "    steward       TEXT,\n"},
			{registry + "store/entry.go", "v.contact, ", "v.steward, "},
			{registry + "store/entry.go", "	e.Contact = c.text()\n", "	e.Steward = c.text()\n"},
			{registry + "store/entry.go", "\"contact\", ", "\"steward\", "},
			{registry + "store/entry.go", "	optionalText(v, n.Contact)\n", "	optionalText(v, n.Steward)\n"},
		}, fields, "TestStored/Record.Steward"},
		{"the digest", []edit{
			{registry + "store/digest.go", "	fieldLeaf\n", "	fieldSteward\n"},
			{
				registry + "store/digest.go", "	h.text(fieldPattern, e.Pattern)\n",
				"	h.text(fieldSteward, e.Steward)\n",
			},
		}, "./resolver/registry/store", "TestDigestOfFields/Record.Steward"},
		{"the portable backup", []edit{
			{
				registry + "store/dumpline.go", "	Contact       string          `json:\"contact,omitempty\"`\n",
				"	Steward string `json:\"steward,omitempty\"`\n",
			},
			{registry + "store/dumpline.go", "Contact: v.Contact,", " Steward: v.Steward,"},
			{registry + "store/dumpline.go", "Contact: d.Contact,", " Steward: d.Steward,"},
		}, "./resolver/registry/store", "TestDumpOfFields/Record.Steward"},
		{"the validation", []edit{
			{
				registry + "validate.go", "		{\"contact\", record.Contact, MaxText},\n",
				"		{\"steward\", record.Steward, MaxText},\n",
			},
		}, fields, "TestValidation/Record.Steward"},
		{"the row", []edit{{
			registry + "field/table.go", "return &r.Contact },\n	},\n",
			"	{\n		Name: \"steward\", Label: \"steward\", Doc: \"who takes care of it\",\n		at: " +
				"func(r *registry.Record) any { return &r.Steward },\n	},\n",
		}}, fields, "TestRows/Record.Steward"},
		{"the OpenAPI document", []edit{{
			"proxy/admin/api/openapi.json",
			"\"additionalProperties\": true,\n      \"description\": \"metadata of the resource: a JSON object\"\n  " +
				"   },\n",
			"\"steward\": {\"type\": \"string\", \"description\": \"who takes care of it\"},\n",
		}}, "./proxy/admin", "TestSchemasOfFields"},
		{"the label", []edit{ // in each language: TestTranslations of proxy/pages finds those that are missing
			{
				"proxy/pages/messages/en.toml", "metadata = \"Metadata\"\ncontact = \"Contact\"\n",
				"steward = \"Steward\"\n",
			},
		}, "", ""},
		{"the documentation", []edit{
			{
				"docs/registry-import.md", "| `contact` | a name, a mail address or a URI |\n",
				"| `steward` | who takes care of it |\n",
			},
		}, fields, "TestDocumentation/Record.Steward"},
	}
}

// everywhere is a test of proxy/admin which checks that the new field is in tables, differences, forms, the
// API and search results.
const everywhere = `package admin_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

func TestSteward(t *testing.T) {
	s := newSite(t, locked)
	_, secret, err := token.Create(t.Context(), s.registry, registry.Actor{Name: "root", Role: registry.Admin}, token.Token{Name: "bot", Role: registry.Admin})
	if err != nil {
		t.Fatal(err)
	}
	auth := "Authorization: Bearer " + secret
	for _, c := range []struct{ request, body, want string }{
		{"PUT /api/v1/names?uri=urn:nbn:fi:a", "{\"targets\":[{\"uri\":\"https://a.example/\"}],\"steward\":\"anna\"}", "\"steward\": \"anna\""},
		{"PUT /api/v1/names?uri=urn:nbn:fi:b", "{\"steward\":\"" + strings.Repeat("x", 5000) + "\"}", "steward exceeds 4096 bytes"},
		{"GET /api/v1/names?prefix=urn:nbn:fi:&text=a.example", "", "\"steward\": \"anna\""},
		{"GET /api/v1/names/export?format=csv", "", ",contact,steward,"},
		{"GET /api/v1/names/export?format=ndjson", "", "\"steward\":\"anna\""},
	} {
		if r := s.ask(c.request, c.body, auth); !strings.Contains(r.body, c.want) {
			t.Errorf("%s: %d %s", c.request, r.status, r.body)
		}
	}
	b := s.editorOf(t, token.Token{Role: registry.Admin})
	form := b.get("/registry/edit?uri=urn:nbn:fi:a")
	form.says(t, 200, "Steward")
	preview := b.press(t, form, "preview", "steward=ben")
	preview.says(t, 200, "Save this change of", "Steward", "anna", "ben")
	b.follow(t, b.press(t, preview, "save")).says(t, 200, "Steward", "ben")
	b.get("/registry/history?uri=urn:nbn:fi:a").says(t, 200, "anna", "ben")
}
`

// TestNewField adds a field in a copy of the module. With all steps the field works everywhere; without one
// of them a named test fails. Short runs only check that the insertion points exist.
func TestNewField(t *testing.T) {
	for _, s := range newField() {
		for _, e := range s.edits {
			if !strings.Contains(read(t, filepath.Join("../../..", e.file)), e.after) {
				t.Errorf("%s: %s has no %q", s.name, e.file, e.after)
			}
		}
	}
	if !testserver.Long() { // the rest builds the module several times; the tests of the tables always run
		return
	}
	dir := copyModule(t)
	steps := newField()
	for _, s := range steps {
		apply(t, dir, s)
	}
	write(t, filepath.Join(dir, "proxy/admin/steward_test.go"), everywhere)
	for _, c := range [][2]string{
		{"./resolver/registry/field", "."},
		{"./resolver/registry/bulk", "TestColumnsOfFields"},
		{"./internal/api", "."},
		{"./proxy/admin/editor", "TestForm"},
		{"./proxy/admin", "TestSteward|TestSchemasOfFields"},
	} {
		if out, err := test(dir, c[0], c[1]); err != nil {
			t.Fatalf("with all steps, %s fails: %v\n%s", c[0], err, out)
		}
	}
	for _, forgotten := range steps {
		if forgotten.forgets == "" {
			continue
		}
		t.Run(strings.ReplaceAll(forgotten.name, " ", "_"), func(t *testing.T) {
			before := make(map[string]string)
			for _, e := range forgotten.edits {
				path := filepath.Join(dir, e.file)
				text := read(t, path)
				if _, ok := before[path]; !ok {
					before[path] = text
				}
				write(t, path, strings.Replace(text, e.text, "", 1))
			}
			defer func() {
				for path, text := range before {
					write(t, path, text)
				}
			}()
			out, err := test(dir, forgotten.of, "^"+strings.ReplaceAll(forgotten.forgets, "/", "$/^")+"$")
			if err == nil || !strings.Contains(out, "--- FAIL: "+forgotten.forgets) {
				t.Errorf("%s was forgotten, and %s does not fail: %v\n%s", forgotten.name, forgotten.forgets, err, out)
			}
		})
	}
}

// test runs tests of a package in a copy of the module. -trimpath keeps paths out of the results, so that the
// build cache is reused.
func test(dir, of, run string) (string, error) {
	cmd := exec.Command("go", "test", "-trimpath", "-short", "-count=1", "-run", run, of)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TEST_LONG=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// copyModule returns a copy of the module with the files that are compiled.
func copyModule(t *testing.T) string {
	t.Helper()
	const root = "../../.."
	dir := t.TempDir()
	for _, name := range []string{
		"go.mod", "go.sum", "cache", "config", "docs", "internal", "proxy", "resolver",
		"systemd", "uri", "urnns",
	} {
		info, err := os.Stat(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !info.IsDir() {
			write(t, filepath.Join(dir, name), read(t, filepath.Join(root, name)))
			continue
		}
		of, err := fs.Sub(os.DirFS(root), name)
		if err == nil {
			err = os.CopyFS(filepath.Join(dir, name), of)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func apply(t *testing.T, dir string, s step) {
	t.Helper()
	for _, e := range s.edits {
		path := filepath.Join(dir, e.file)
		text := read(t, path)
		if strings.Count(text, e.after) != 1 {
			t.Fatalf("%s: %s does not have %q once", s.name, e.file, e.after)
		}
		write(t, path, strings.Replace(text, e.after, e.after+e.text, 1))
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
