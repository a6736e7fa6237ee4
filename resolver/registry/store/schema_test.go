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
	columnPattern  = regexp.MustCompile(`^\s*(\w+)\s+(?:TEXT|BIGINT|SMALLINT|BYTEA)\b`)
	keyedPattern   = regexp.MustCompile(`\(key .*, value `) // a table on a single line
	commentPattern = regexp.MustCompile(` -- (.*)`)
)

// outline returns the tables of a schema with their columns and comments, without types, constraints and
// indexes.
func outline(schema string) string {
	var out strings.Builder
	write := func(indent, name, comment string) {
		out.WriteString(strings.TrimRight(fmt.Sprintf("%-16s%s", indent+name, comment), " ") + "\n")
	}
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
		table, column := tablePattern.FindStringSubmatch(line), columnPattern.FindStringSubmatch(line)
		switch {
		case keyedPattern.MatchString(line):
			write("", table[1], comment)
		case table != nil:
			write("", table[1], above)
		case column != nil:
			write("  ", column[1], comment)
		case line == "" && above != "" && !strings.HasSuffix(out.String(), above+"\n"):
			out.WriteString(above + "\n\n") // the comment on the whole schema
		case line == "":
			out.WriteString("\n")
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
	want := "<!-- Made by go test ./resolver/registry/store -update of resolver/registry/store/schema. -->\n\n" + string(head) +
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
