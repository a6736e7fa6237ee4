package config_test

import (
	"os"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// TestUpgrade requires that the settings which CHANGELOG.md suggests to keep the previous behavior load, and
// differ from the default.
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

// TestRemovedSettings requires that the message about each removed setting names its replacement.
func TestRemovedSettings(t *testing.T) {
	text, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "### Settings that are gone\n\n| setting | now |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := 0
	for row := range strings.SplitSeq(table, "\n") {
		settings, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		for i, setting := range strings.Split(settings, "`") {
			if i%2 == 0 || strings.Contains(setting, ": ") { // a removed value
				continue
			}
			rows++
			if _, err := config.Find(setting); err == nil || !strings.Contains(err.Error(), "unknown key: ") {
				t.Errorf("%s: %v", setting, err)
			}
		}
	}
	if rows < 25 {
		t.Errorf("%d settings", rows)
	}
}
