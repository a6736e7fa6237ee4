package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Commands that users try first suggest existing ones.
func TestEveryday(t *testing.T) {
	r := emptyRegistry(t)
	for _, c := range []struct {
		line, out, messages string
		status              int
	}{
		{"set urn:nbn:fi:a https://a.example/1", "+ target https://a.example/1", "", 0},
		{"set urn:nbn:fi:a --note checked", "urn:nbn:fi:a: version 2", "", 0},
		{"set urn:nbn:fi:a --note checked", "urn:nbn:fi:a: unchanged, version 2", "", 0},
		{"set urn:nbn:fi:a https://a.example/1 --note again", "unchanged, version 2", "", 0},
		{"history urn:nbn:fi:a", ": checked", "", 0},
	} {
		out, messages, status := r.run("", strings.Fields(c.line)...)
		if status != c.status || !strings.Contains(out, c.out) || !strings.Contains(messages, c.messages) {
			t.Errorf("%s: %d %q %q", c.line, status, out, messages)
		}
	}
	for line, part := range map[string]string{
		"help": "Names:\n  get ", "help set": "urnd registry set NAME",
		"help token create": "urnd registry token create",
	} {
		if out, messages, status := run(t, "", strings.Fields(line)...); status != 0 || !strings.Contains(out, part) {
			t.Errorf("%s: %d %q %q", line, status, out, messages)
		}
	}
}

// Text written by others cannot control a terminal, and cannot hide text.
func TestEscaped(t *testing.T) {
	r := emptyRegistry(t)
	if _, messages, status := r.run("", "set", "urn:nbn:fi:a", "https://a.example/1", "--contact",
		"a\x1b[31m\u202egnp.exe\u2066", "--note", "one\ntwo\ufeff"); status != 0 {
		t.Fatal(messages)
	}
	for _, line := range []string{"get urn:nbn:fi:a", "history urn:nbn:fi:a"} {
		out, _, _ := r.run("", strings.Fields(line)...)
		if strings.ContainsAny(out, "\x1b\u202e\u2066\ufeff") || !strings.Contains(out, `one\u000atwo\ufeff`) ||
			!strings.Contains(out, `a\u001b[31m\u202egnp.exe\u2066`) {
			t.Errorf("%s: %q", line, out)
		}
	}
}

// An export overwrites no file without --force, and its format matches the file name.
func TestExportFile(t *testing.T) {
	r, dir := emptyRegistry(t), t.TempDir()
	r.must("set urn:nbn:fi:a --target https://a.example/1 --priority -1 --contact =1+1")
	there := filepath.Join(dir, "names.csv")
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line, file, messages string
		status               int
	}{
		{"export", "names.xlsx", "are not supported: they open .csv", 2},
		{"export --format csv", "names.xlsx", "are not supported: they open .csv", 2},
		{"export", "names.json", "is not a format: use .csv, .tsv or", 2},
		{"export", "names.pdf.gz", "is not a format: use .csv, .tsv or", 2},
		{"export", "names.csv", "use --force", 2},
		{"export --zone a.example", "names.ndjson", "--zone is for naptr-zone", 1},
		{"export --format tsv", "names.txt", "", 0},
		{"export", "names", "", 0},
		{"export --force", "names.csv", "", 0},
	} {
		args := append(strings.Fields(c.line), filepath.Join(dir, c.file))
		_, messages, status := r.run("", args...)
		if status != c.status || !strings.Contains(messages, c.messages) {
			t.Errorf("%s: %d %q", args, status, messages)
		}
		if text, err := os.ReadFile(there); err != nil || c.status != 0 && string(text) != "mine" {
			t.Errorf("after %s the file has %q, %v", args, text, err)
		}
	}
	if text, err := os.ReadFile(there); err != nil || !strings.Contains(string(text), ",'=1+1,") ||
		!strings.Contains(string(text), ",-1,") {
		t.Errorf("the export has %s, %v", text, err)
	}
}
