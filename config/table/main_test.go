package main

import (
	"os"
	"strings"
	"testing"
)

// TestGenerated requires that settings_generated.go is up to date.
func TestGenerated(t *testing.T) {
	table, err := os.ReadFile("../settings.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want, err := generate(table)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("../settings_generated.go"); err != nil || string(got) != string(want) {
		t.Errorf("settings_generated.go is not the output of make generate: %v", err)
	}
}

// TestWrongRows requires that the error about an invalid row names the mistake.
func TestWrongRows(t *testing.T) {
	for row, want := range map[string]string{
		"defalt: 1":                                    "defalt",
		"type: Size\n      default: many":              `dns.a: "many" is not a size`,
		"type: time.Duration\n      range: 1s to soon": `dns.a: time: invalid duration "soon"`,
	} {
		table := "dns:\n  type: DNS\n  doc: a\n  settings:\n    a:\n      " + row + "\n"
		if _, err := generate([]byte(table)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", row, err)
		}
	}
}
