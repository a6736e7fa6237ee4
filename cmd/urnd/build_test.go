package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// build returns a folder that holds the binary urnd.
func build(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	buildIn(t, dir)
	return dir
}

// buildIn makes the binary urnd in a folder.
func buildIn(t testing.TB, dir string) {
	t.Helper()
	out, err := exec.Command("go", "build", "-pgo=off", "-o", filepath.Join(dir, "urnd"), ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}
