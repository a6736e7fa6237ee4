package squidconf

import (
	"bufio"
	"compress/gzip"
	"os"
	"slices"
	"strings"
	"testing"
)

// markdown returns the table of directives in Markdown.
func markdown() string {
	var all strings.Builder
	all.WriteString("| directive | urnd.yaml |\n|---|---|\n")
	for _, r := range table() {
		text := map[kind]string{unneeded: "not needed: ", missing: "missing; instead: ", acls: "missing; instead: "}[r.kind] + r.instead
		of := map[bool]string{true: "`acl` of the type "}[r.kind == acls]
		all.WriteString("| " + of + "`" + strings.Join(strings.Fields(r.names), "`, `") + "` | " + text + " |\n")
	}
	return all.String()
}

// The documentation has the same table as the program.
func TestTableIsDocumented(t *testing.T) {
	const path, begin, end = "../../../docs/squid.md", "<!-- directives: go test ./internal/cli/squidconf -update -->\n", "<!-- end -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	shown, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the table", path)
	}
	want := "\n" + markdown() + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if shown != want {
		t.Errorf("%s has another table: go test ./internal/cli/squidconf -update", path)
	}
}

// Each directive is in the table once, with its replacement.
func TestTable(t *testing.T) {
	rows := make(map[string]bool)
	for _, r := range table() {
		if r.names == "" || r.instead == "" || r.kind != carried && r.convert != nil || !slices.Contains([]kind{carried, unneeded, missing, acls}, r.kind) {
			t.Errorf("%+v", r)
		}
		for name := range strings.FieldsSeq(r.names) {
			if r.kind == acls {
				name = "acl " + name
			}
			if rows[name] {
				t.Errorf("%s is there twice", name)
			}
			rows[name] = true
		}
	}
}

// Each directive that Squid documents is in the table.
func TestTableIsComplete(t *testing.T) {
	const path = "/usr/share/doc/squid-common/squid.conf.documented.gz"
	file, err := os.Open(path)
	if err != nil {
		t.Skipf("the package squid-common, or its documentation, is not installed: %v", err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	lines := bufio.NewScanner(unpacked)
	for lines.Scan() {
		if tag, ok := strings.CutPrefix(lines.Text(), "#  TAG: "); ok {
			names = append(names, strings.Fields(tag)[0])
		}
	}
	if err := lines.Err(); err != nil || len(names) < 300 {
		t.Fatalf("%d directives, %v", len(names), err)
	}
	all := rows()
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if _, ok := all[name]; !ok {
			t.Errorf("%s is not in the table", name)
		}
	}
}
