package main

import (
	"os"
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
	command := exec.Command("go", "build", "-pgo=off", "-o", filepath.Join(dir, "urnd"), ".")
	command.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is shipped, and as the cache of builds has it, also under the race detector
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}
