package arch

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const packagesWhy = "a reader finds the right folder from docs/architecture.md: name the package there, or the " +
	"folder that it is in with /*"

// checkPackages finds packages that the text names neither by path nor by a pattern of their folder.
func checkPackages(tr *tree, text string) []finding {
	var found []finding
	var seen []string
	for _, s := range tr.code() {
		dir := s.dir()
		if slices.Contains(seen, dir) {
			continue
		}
		seen = append(seen, dir)
		if !strings.Contains(text, "`"+dir+"`") && !strings.Contains(text, "`"+path.Dir(dir)+"/*`") {
			found = append(found, finding{dir, "docs/architecture.md does not name " + dir, packagesWhy})
		}
	}
	return found
}

func TestPackagesAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkPackages(readModule(t), string(text)))
}

func TestCheckPackages(t *testing.T) {
	tr := fakeTree(t, map[string]string{
		"uri/a.go": "package uri", "proxy/x/a.go": "package x", "resolver/scheme/ftp/a.go": "package ftp",
	})
	wantFindings(t, checkPackages(tr, "`uri`, `resolver/scheme/*`"),
		"proxy/x docs/architecture.md does not name proxy/x")
}
