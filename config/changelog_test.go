package config_test

import (
	"os"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// What the list of changes says to write to keep what was is a setting that loads, and is not the default.
func TestUpgrade(t *testing.T) {
	text, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "to keep it, write |\n|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := 0
	for row := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(strings.Trim(row, "|"), "|")
		_, code, _ := strings.Cut(cells[len(cells)-1], "`")
		setting, _, _ := strings.Cut(code, "`")
		path, value, _ := strings.Cut(setting, ": ")
		file := setting + "\n"
		if section, key, ok := strings.Cut(path, "."); ok {
			file = section + ":\n  " + key + ": " + value + "\n"
		}
		c, err := config.Load(write(t, "urnd.yaml", file), nil)
		if err != nil || c.Text(path) == config.Default().Text(path) {
			t.Errorf("%s\n%q: %v", row, setting, err)
		}
		rows++
	}
	if rows < 30 {
		t.Errorf("%d rows", rows)
	}
}
