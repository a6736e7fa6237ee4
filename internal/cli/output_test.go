package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
)

// A CSV table without rows has its titles, by which readers look up columns.
func TestEmptyCSV(t *testing.T) {
	cmd := &cobra.Command{Use: "list"}
	output := cli.AddOutput(cmd, "one object for each name", cli.CSV, cli.JSON)
	output.Format = cli.CSV
	for name, open := range map[string]func(*strings.Builder) (*cli.Table, error){
		"Table":   func(w *strings.Builder) (*cli.Table, error) { return output.Table(w, "name", "status") },
		"Numbers": func(w *strings.Builder) (*cli.Table, error) { return output.Numbers(w, "name", "status") },
		"Rows":    func(w *strings.Builder) (*cli.Table, error) { return output.Rows(w, "name", "status") },
	} {
		var w strings.Builder
		table, err := open(&w)
		if err != nil {
			t.Fatal(err)
		}
		if err := table.End(); err != nil || w.String() != "name,status\n" {
			t.Errorf("%s: %q, %v", name, w.String(), err)
		}
	}
}
