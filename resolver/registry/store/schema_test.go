package store_test

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/registry-schema.md anew")

// docs/registry-schema.md has the schema as it is.
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
		"\n## Tables\n\n```sql\n" + strings.TrimPrefix(string(schema), "-- +goose Up\n") + "```\n"
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
