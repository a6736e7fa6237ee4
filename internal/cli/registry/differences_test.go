package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each command that changes many names prints the differences in a dry run, without changing anything.
func TestRegistryDryRuns(t *testing.T) {
	r := emptyRegistry(t)
	file := filepath.Join(t.TempDir(), "names.csv")
	if err := os.WriteFile(file,
		[]byte("name,target\nurn:nbn:fi:c,https://old.example/c\nurn:nbn:fi:d,https://old.example/d\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	r.must("set urn:nbn:fi:a --target http://old.example/a", "set urn:nbn:fi:b --target http://old.example/b",
		"set urn:nbn:fi:t: --prefix --sandbox", "set urn:nbn:fi:t:1 --target https://test.example/1",
		"withdraw urn:nbn:fi:b --reason gone")
	before, _, _ := r.run("", "export")
	for _, s := range []step{
		{
			args: words("import --dry-run --diff-limit 1 " + file),
			out: "urn:nbn:fi:c: registered, version 1\n  + target https://old.example/c\n2 names differ: 2 added; " +
				"1 more than are printed\n",
		},
		{
			args: words("import --dry-run --output csv " + file), part: "2 names differ: 2 added\n",
			out: "name,change,field,before,after\nurn:nbn:fi:c,added,target,,https://old.example/c\nurn:nbn:fi:d,added,target,,https://old.example/d\n",
		},
		{
			args: words("withdraw urn:nbn:fi:a --reason gone --dry-run --output json"),
			out: `{"name":"urn:nbn:fi:a","change":"withdrawn","version_before":1,"version_after":2,"differences":[` +
				`{"field":"status","before":"active","after":"withdrawn"},{"field":"reason","after":"gone"}]}` + "\n" +
				`{"counts":{"names":1,"added":0,"changed":0,"withdrawn":1,"redacted":0,"removed":0,"more":0}}` + "\n",
		},
		{
			args: words("supersede urn:nbn:fi:a --by urn:nbn:fi:c --note n --dry-run"),
			out:  "  + successor urn:nbn:fi:c\n1 name differs: 1 withdrawn\n",
		},
		{
			args: words("purge urn:nbn:fi:t: --dry-run"),
			out:  "urn:nbn:fi:t:1: purged\n  - target https://test.example/1\n",
		},
		{
			args: words("mint urn:nbn:fi:m-{counter} -n 2 --dry-run"),
			out:  "urn:nbn:fi:m-2: registered, version 1\n  + status reserved\n2 names differ: 2 added\n",
		},
		{
			args: words("redact urn:nbn:fi:b --version 1 --reason r --dry-run"),
			out:  "urn:nbn:fi:b: version 1 redacted\n  - target http://old.example/b\n",
		},
		{
			args: words("rewrite urn:nbn:fi: --replace http://old.example/ --with https://new.example/ --dry-run"),
			out:  "urn:nbn:fi:a: version 2\n  - target http://old.example/a\n  + target https://new.example/a\n",
			part: "2 of 4 names would be moved; as of 5\n",
		},
		{args: words("import --output csv " + file), status: 2, part: "is for --dry-run"},
		{
			args: words("withdraw urn:nbn:fi:a --reason gone --dry-run --output xml"), status: 2,
			part: "it requires text, csv or json",
		},
		{
			args: words("revert 1 --note n --dry-run --output csv"),
			out:  "urn:nbn:fi:a,withdrawn,status,active,withdrawn\n",
		},
	} {
		out, messages, status := r.run(s.in, s.args...)
		if status != s.status || !strings.Contains(out, s.out) || !strings.Contains(messages, s.part) {
			t.Errorf("%s: %d, want %d\n%s%s", strings.Join(s.args, " "), status, s.status, out, messages)
		}
	}
	if after, _, _ := r.run("", "export"); after != before {
		t.Errorf("something has changed:\n%s\n%s", before, after)
	}
}

// Two registries, stores or files, are compared. Fields that a file omits do not differ.
func TestRegistryDiff(t *testing.T) {
	r := emptyRegistry(t)
	directory := t.TempDir()
	file, later, simple := filepath.Join(directory, "names.csv"), filepath.Join(directory, "later.ndjson.gz"),
		filepath.Join(directory, "simple.csv")
	r.must("set urn:nbn:fi:a --target https://example.org/1 --contact c",
		"set urn:nbn:fi:b --target https://example.org/2",
		"set urn:nbn:fi: --prefix --target https://example.org/", "export "+file,
		"set urn:nbn:fi:a --target https://example.org/9", "set urn:nbn:fi:c --target https://example.org/3",
		"export --history "+later)
	if err := os.WriteFile(simple,
		[]byte("target,name\nhttps://example.org/2,urn:nbn:fi:b\nhttps://example.org/9,URN:NBN:fi:a\nhttps://example.org/4,urn:nbn:fi:d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const differs = "urn:nbn:fi:a: differs\n  - target https://example.org/1\n  + target https://example.org/9\n" +
		"urn:nbn:fi:c: only in the second\n  + target https://example.org/3\n2 names differ: 1 added, 1 changed\n"
	store := r.store
	for _, s := range []step{
		{args: []string{"diff", file, later}, status: 1, out: differs},
		{args: []string{"diff", file, store}, status: 1, out: differs},
		{args: []string{"diff", later, store}, out: "0 names differ\n"},
		{
			args: []string{"diff", store, simple, "--output", "csv"}, status: 1,
			part: "3 names differ: 1 added, 2 removed",
			out: "name,change,field,before,after\nurn:nbn:fi:*,removed,target,https://example.org/,\n" +
				"urn:nbn:fi:c,removed,target,https://example.org/3,\nurn:nbn:fi:d,added,target,,https://example.org/4\n",
		},
		{args: []string{"diff", store, file + ".none"}, status: 2, part: "no such file"},
	} {
		out, messages, status := run(t, "", append([]string{"diff", "--config="}, s.args[1:]...)...)
		if status != s.status || s.out != out || !strings.Contains(messages, s.part) {
			t.Errorf("%s: %d, want %d\n%s%s", strings.Join(s.args, " "), status, s.status, out, messages)
		}
	}
	if out, messages, status := r.run("", "export", "--at", "2001-01-01"); status != 0 || out != "" {
		t.Errorf("an export of the state before: %d\n%s%s", status, out, messages)
	}
}
