package store

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fromVersions are the tables without rows in a portable backup: Load rebuilds them from versions, events and
// commits.
func fromVersions() []string {
	return []string{
		"author", "change_set", "commits", "event", "version", "name", "host", "target",
		"title_word", "total",
	}
}

// A portable backup has every column of every side table, with its type.
func TestBackupHasAllColumns(t *testing.T) {
	schema, err := os.ReadFile("schema/00001_registry.sql")
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`--.*|/\*.*?\*/`).ReplaceAllString(string(schema), "")
	types := make(map[string]map[string]string) // by table and column
	keys := make(map[string][]string)           // by table
	column := regexp.MustCompile(`^(\w+)\s+(TEXT|BIGINT|SMALLINT|BYTEA)\b`)
	primary := regexp.MustCompile(`PRIMARY KEY \(([^)]*)\)`)
	for _, create := range regexp.MustCompile(`(?s)CREATE TABLE (\w+)\s*\((.*?)\)\s*;`).FindAllStringSubmatch(text,
		-1) {
		name, columns := create[1], make(map[string]string)
		if m := primary.FindStringSubmatch(create[2]); m != nil {
			keys[name] = strings.Split(m[1], ", ")
		}
		for line := range strings.Lines(strings.ReplaceAll(create[2], ", value", ",\nvalue")) {
			line = strings.TrimSpace(line)
			if m := column.FindStringSubmatch(line); m != nil {
				if columns[m[1]] = m[2]; strings.Contains(line, "PRIMARY KEY") {
					keys[name] = []string{m[1]}
				}
			}
		}
		types[name] = columns
	}
	for _, name := range fromVersions() {
		if types[name] == nil {
			t.Errorf("the schema has no table %s", name)
		}
		delete(types, name)
	}
	for _, of := range tables() {
		columns := types[of.name]
		delete(types, of.name)
		if got := of.text[:of.keys]; !slices.Equal(got, keys[of.name]) {
			t.Errorf("%s: its key is %v, and in the schema %v", of.name, got, keys[of.name])
		}
		for kind, some := range map[string][]string{"TEXT": of.text, "BIGINT": of.numbers, "BYTEA": of.bytes} {
			for _, c := range some {
				if columns[c] != kind {
					t.Errorf("%s.%s: backups have it as %s, and the schema as %q", of.name, c, kind, columns[c])
				}
				delete(columns, c)
			}
		}
		for c := range columns {
			t.Errorf("%s.%s: backups do not have it", of.name, c)
		}
	}
	delete(types, "certificate") // excluded: its keys are secret, and a certification authority issues new ones
	for name := range types {
		t.Errorf("%s: backups do not have the table", name)
	}
}
