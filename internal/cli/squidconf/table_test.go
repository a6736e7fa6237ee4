package squidconf

import (
	"bufio"
	"compress/gzip"
	"os"
	"slices"
	"strings"
	"testing"
)

// markdown returns the directives by treatment, as lists in Markdown. Directives that only have another name share
// an item, those of a family with a single treatment a pattern, and those that Squid 5.7 itself no longer has are left
// out.
func markdown() string {
	renamed, lists, all := "", make(map[kind]string), table()
	for _, r := range all {
		names := "`" + strings.Join(families(r, all), "`, `") + "`"
		switch {
		case r.instead == "no longer in Squid 5":
		case r.kind != carried:
			lists[r.kind] += wrapped("- " + r.instead + ": " + names)
		case strings.Count(r.instead, "`") == 2 && strings.HasPrefix(r.instead, "`") &&
			strings.HasSuffix(r.instead, "`"):
			renamed += "; " + names + ": " + r.instead
		default:
			lists[carried] += wrapped("- " + names + ": " + r.instead)
		}
	}
	return "### Carried over\n\n" + lists[carried] + wrapped("- "+strings.TrimPrefix(renamed, "; ")) +
		"\n### Not needed\n\n" + lists[unneeded] +
		"\n### Missing\n\nWhat to use instead, and the directives:\n\n" + lists[missing] +
		"\nThe same for types of `acl`:\n\n" + lists[acls]
}

// families returns the names of a row, or patterns for them.
func families(r row, all []row) []string {
	var names []string
	for name := range strings.FieldsSeq(r.names) {
		if short := family(name, r, all); !slices.Contains(names, short) {
			names = append(names, short)
		}
	}
	return names
}

// family returns a pattern for a name, such as icap_*, if at least three names of its row and none of another match
// it, or else the name.
func family(name string, r row, all []row) string {
	for i := range name {
		prefix, total, own := name[:i+1], 0, 0
		for _, other := range all {
			for n := range strings.FieldsSeq(other.names) {
				if strings.HasPrefix(n, prefix) {
					total++
					if other.names == r.names {
						own++
					}
				}
			}
		}
		if strings.HasSuffix(prefix, "_") && own >= 3 && own == total {
			return prefix + "*"
		}
	}
	return name
}

// wrapped returns the lines of a list item.
func wrapped(item string) string {
	var all strings.Builder
	length := 0
	for i, word := range strings.Split(item, " ") {
		switch {
		case i == 0:
		case length+1+len(word) > 120:
			all.WriteString("\n  ")
			length = 2
		default:
			all.WriteString(" ")
			length++
		}
		all.WriteString(word)
		length += len(word)
	}
	return all.String() + "\n"
}

// The documentation has the same directives as the program.
func TestTableIsDocumented(t *testing.T) {
	const path, begin, end = "../../../docs/squid.md",
		"<!-- directives: go test ./internal/cli/squidconf -update -->\n", "<!-- end -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	shown, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the directives", path)
	}
	want := "\n" + markdown() + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if shown != want {
		t.Errorf("%s has other lists: go test ./internal/cli/squidconf -update", path)
	}
}

// Each directive is in the table once, with its replacement.
func TestTable(t *testing.T) {
	rows := make(map[string]bool)
	for _, r := range table() {
		if r.names == "" || r.instead == "" || r.kind != carried && r.convert != nil ||
			!slices.Contains([]kind{carried, unneeded, missing, acls}, r.kind) {
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
