package config_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// TestRecipes requires that the urnd files in the recipes load without warnings, and that those for a first
// setup are short.
func TestRecipes(t *testing.T) {
	text, err := os.ReadFile("../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	most := map[string]int{
		"A public resolver": 6, "A resolver behind nginx": 8, "An office proxy": 10,
		"An office that replaces Squid": 21, "A gateway of a site": 12,
		"A site with two servers and an API below /api": 14,
	}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		title, rest, _ := strings.Cut(section, "\n")
		for _, block := range regexp.MustCompile("(?s)```yaml\n# /etc/urnd/urnd.yaml\n(.*?)```").FindAllStringSubmatch(rest, -1) {
			c, err := config.Load(write(t, "urnd.yaml", block[1]), nil)
			if err != nil {
				t.Errorf("%s: %v", title, err)
				continue
			}
			if warnings := c.Warnings(); len(warnings) > 0 {
				t.Errorf("%s: %v", title, warnings)
			}
			if n, of := strings.Count(block[1], "\n"), most[title]; of > 0 && n > of {
				t.Errorf("%s: %d lines, want %d", title, n, of)
			}
			delete(most, title)
		}
	}
	if len(most) > 0 {
		t.Errorf("no recipe for %v", most)
	}
}
