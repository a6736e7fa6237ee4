package admin_test

import (
	"os/exec"
	"strings"
	"testing"
)

// A text browser shows all content of the pages.
func TestBulkPagesInLynx(t *testing.T) {
	lynx, err := exec.LookPath("lynx")
	if err != nil {
		t.Skip(err)
	}
	server, paths := bulkPages(t)
	for name, wants := range map[string][]string{
		"import":  {"File", "Or lines, pasted", "Format", "Continue"},
		"mapping": {"books.csv", "Kennung", "urn:nbn:fi:lib-20", "Preview the changes", "Overwrite"},
		"job": {
			"Dry run of an import", "Import the names", "rejected lines, of 31",
			"https://catalogue.example.org/29", "is no name", "as a table",
		},
		"jobs":       {"import, csv, dry run", "the catalogue of May"},
		"prefixes":   {"urn:nbn:fi:scan-", "library@example.org"},
		"targets":    {"http://old.example.org/items/0", "dead", "Move this server"},
		"move":       {"https://new.example.org/objects/", "12 names were moved this way recently"},
		"statistics": {"urn:nbn", "40", "2,910 times by people"},
		"tokens":     {"catalogue", "writer: mint, change", "Create a token"}, "revoke": {"Revoke the token"},
	} {
		out, err := exec.CommandContext(t.Context(), lynx, "-dump", "-width=160", "-nolist",
			server+paths[name]).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, want := range wants {
			if !strings.Contains(strings.Join(strings.Fields(string(out)), " "), want) {
				t.Errorf("%s has no %q:\n%s", name, want, out)
			}
		}
	}
}
