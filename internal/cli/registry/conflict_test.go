package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Importing an edited export by the command line does not overwrite later changes of others, and does not
// reactivate withdrawn names.
func TestRegistryConflicts(t *testing.T) {
	r := emptyRegistry(t)
	file := filepath.Join(t.TempDir(), "names.csv")
	r.must("set urn:nbn:fi:a --target https://example.org/1", "set urn:nbn:fi:b --target https://example.org/1",
		"export "+file,
		"set urn:nbn:fi:a --target https://example.org/2", "withdraw urn:nbn:fi:b --reason gone")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "example.org/1", "example.org/3")),
		0o600); err != nil {
		t.Fatal(err)
	}
	simple := filepath.Join(t.TempDir(), "simple.csv")
	if err := os.WriteFile(simple, []byte("name,target\nurn:nbn:fi:a,https://example.org/9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range []step{
		{args: words("import " + file), status: 1, part: "the line is based on version 1"},
		{
			args: words("import " + file), status: 1,
			part: "; export again and repeat the edit, or import with overwrite",
		},
		{
			args: words("import --overwrite " + file), status: 1,
			part: "; to restore a withdrawn name, use set --activate or a line based on this version",
		},
		{args: words("import " + simple), status: 1, part: ":2: conflict: urn:nbn:fi:a has version 3"},
		{args: words("set urn:nbn:fi:b --replace --target https://example.org/4"), status: 2, part: "set --activate"},
		{
			args: words("set urn:nbn:fi:b --document -"),
			in:   `{"name":"urn:nbn:fi:b","targets":[{"uri":"https://example.org/4"}]}`, status: 2,
			part: "set --activate",
		},
		{
			args: words("set urn:nbn:fi:b --document -"),
			in:   `{"name":"urn:nbn:fi:b","status":"active","targets":[{"uri":"https://example.org/4"}]}`,
		},
	} {
		if _, messages, status := r.run(s.in, s.args...); status != s.status || !strings.Contains(messages, s.part) {
			t.Errorf("%s: %d, want %d; %s", s.args, status, s.status, messages)
		}
	}
}
