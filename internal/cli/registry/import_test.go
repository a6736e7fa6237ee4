package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A typical workflow of a librarian: a file with one invalid line is imported, exported, and imported
// elsewhere.
func TestRegistryImport(t *testing.T) {
	dir := t.TempDir()
	store, csv, bad := filepath.Join(dir, "registry.db"), filepath.Join(dir, "names.csv"), filepath.Join(dir, "bad.csv")
	text := "Nimi;Linkki;Vuosi\r\nurn:nbn:fi:a;https://example.org/a;1999\r\nnonsense;https://example.org/b;2000\r\n"
	if err := os.WriteFile(csv, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	mapped := []string{"import", "--map", "name=Nimi", "--map", "target=Linkki", "--map", "-=*"}
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"import", csv}, 1, "no known or mapped column"},
		{[]string{"import", "--map", "name", csv}, 2, "is not OURS=THEIRS"},
		{[]string{"import", "--format", "xml", csv}, 2, "invalid format"},
		{[]string{"import"}, 2, "write urnd registry import FILE..."},
		{[]string{"import", filepath.Join(dir, "none.csv")}, 1, "no such file"},
		{
			append(mapped, "--dry-run", csv), 1,
			"names.csv: 1 name: would be 1 new, 0 changed, 0 unchanged; 1 line rejected",
		},
		{append(mapped, "--rejected", bad, csv), 1, "1 name: 1 new"},
		{append(mapped, csv), 1, "names.csv:3: "},
		{append(mapped, "--output=json", csv), 1, `"unchanged":1,"rejected":1,"ignored":["Vuosi"]`},
		{[]string{"export", "--format", "nginx-map"}, 0, `"/urn:nbn:fi:a" "https://example.org/a";`},
		{[]string{"export", "--format", "naptr-zone"}, 1, "a zone requires a prefix"},
		{[]string{"export", "--history", filepath.Join(dir, "all.tsv.gz")}, 0, ""},
		{[]string{"export", filepath.Join(dir, "none", "all.tsv")}, 1, "no such file"},
	} {
		out, status := storeCommand(t, store, c.args...)
		if status != c.status || !strings.Contains(out, c.want) {
			t.Errorf("%s: status %d, want %d: %s", c.args, status, c.status, out)
		}
	}
	if rejected, err := os.ReadFile(bad); err != nil || !strings.Contains(string(rejected), csv+",3,") {
		t.Errorf("rejected lines: %s, %v", rejected, err)
	}
	other := filepath.Join(dir, "other.db")
	if out, status := storeCommand(t, other, "import", filepath.Join(dir, "all.tsv.gz")); status != 0 ||
		!strings.Contains(out, "1 new") {
		t.Errorf("status %d: %s", status, out)
	}
	first, _ := storeCommand(t, store, "export", "--history")
	if second, _ := storeCommand(t, other, "export", "--history"); second != first ||
		!strings.Contains(first, `"version":1`) {
		t.Errorf("exported are %s and %s", first, second)
	}
	if parts, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(parts) > 0 {
		t.Errorf("there are %v", parts)
	}
}

// A dry run names the unmapped fields of another program's format.
func TestImportUnmapped(t *testing.T) {
	dir := t.TempDir()
	store, file := filepath.Join(dir, "registry.db"), filepath.Join(dir, "links.csv")
	text := "keyword,url,ip,clicks\na,https://example.org/a,192.0.2.1,7\nb,https://example.org/b,,2\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"import", "--dry-run", "--format", "yourls", "--base", "urn:example:"}
	for flag, want := range map[string]string{
		"--note=x":      "links.csv: unmapped fields: clicks (2), ip (1)\n",
		"--output=json": `"unmapped_count":3,"unmapped":[{"field":"clicks","count":2},{"field":"ip","count":1}]`,
	} {
		if out, status := storeCommand(t, store, append(args, flag, file)...); status != 0 ||
			!strings.Contains(out, want) {
			t.Errorf("%s: status %d: %s, want %s", flag, status, out, want)
		}
	}
}
