package store_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/registry-schema.md anew")

var (
	tablePattern   = regexp.MustCompile(`^CREATE TABLE (\w+) *\(`)
	keyedPattern   = regexp.MustCompile(`\(key .*, value `) // a table on a single line
	commentPattern = regexp.MustCompile(` -- (.*)`)
)

// outline returns the tables of a schema with their comments, without columns and indexes.
func outline(schema string) string {
	var out strings.Builder
	write := func(name, comment string) { fmt.Fprintf(&out, "%-12s  %s\n", name, comment) }
	above := "" // the comment above a table
	for line := range strings.Lines(schema) {
		line = strings.TrimSuffix(line, "\n")
		comment := ""
		if m := commentPattern.FindStringSubmatch(line); m != nil {
			comment = m[1]
		}
		if text, isComment := strings.CutPrefix(line, "-- "); isComment {
			above = strings.TrimSpace(above + " " + text)
			continue
		}
		switch table := tablePattern.FindStringSubmatch(line); {
		case keyedPattern.MatchString(line):
			write(table[1], comment)
		case table != nil:
			write(table[1], above)
		case line == "" && above != "":
			out.WriteString(above + "\n\n") // the comment on the whole schema
		}
		above = ""
	}
	return out.String()
}

// docs/registry-schema.md matches the schema.
func TestSchemaDocument(t *testing.T) {
	head, err := os.ReadFile("schema/README.md")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := os.ReadFile("schema/00001_registry.sql")
	if err != nil {
		t.Fatal(err)
	}
	want := "<!-- Made by go test ./resolver/registry/store -update of resolver/registry/store/schema. -->\n\n" +
		string(head) +
		"\n## Tables\n\n```\n" + outline(strings.TrimPrefix(string(schema), "-- +goose Up\n")) + "```\n"
	const path = "../../../docs/registry-schema.md"
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is not that of the schema, %v: run go test ./resolver/registry/store -update", path, err)
	}
}
