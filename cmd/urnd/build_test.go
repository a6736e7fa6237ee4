package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// build returns a directory with the binary urnd.
func build(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	buildIn(t, dir)
	return dir
}

// buildIn builds the binary urnd in a directory.
func buildIn(t testing.TB, dir string) {
	t.Helper()
	command := exec.Command("go", "build", "-pgo=off", "-o", filepath.Join(dir, "urnd"), ".")
	// Like the release, and the build cache, also under the race detector.
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}
