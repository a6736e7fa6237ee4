package arch

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const roomsWhy = "a reader finds the right folder from docs/architecture.md: say there what it is for"

// checkRooms finds packages and files of cmd/urnd that the text does not name.
func checkRooms(tr *tree, text string) []finding {
	var found []finding
	var seen []string
	for _, s := range tr.code() {
		dir := s.dir()
		if dir == "cmd/urnd" {
			name := path.Base(s.path)
			if !strings.Contains(text, "`"+name+"`") {
				found = append(found, finding{s.path, "docs/architecture.md does not name " + name, roomsWhy})
			}
		}
		if slices.Contains(seen, dir) {
			continue
		}
		seen = append(seen, dir)
		if !strings.Contains(text, "`"+dir+"`") && !strings.Contains(text, "`"+path.Dir(dir)+"/*`") {
			found = append(found, finding{dir, fmt.Sprintf("docs/architecture.md does not name %s", dir), roomsWhy})
		}
	}
	return found
}

func TestRoomsAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkRooms(readModule(t), string(text)))
}

func TestCheckRooms(t *testing.T) {
	tr := fakeTree(t, map[string]string{
		"uri/a.go": "package uri", "proxy/x/a.go": "package x", "resolver/scheme/ftp/a.go": "package ftp",
		"cmd/urnd/wire_a.go": "package main", "cmd/urnd/wire_b.go": "package main",
	})
	text := "`uri`, `resolver/scheme/*`, `cmd/urnd` with `wire_a.go`"
	wantFindings(t, checkRooms(tr, text), "cmd/urnd/wire_b.go docs/architecture.md does not name wire_b.go", "proxy/x docs/architecture.md does not name proxy/x")
}
