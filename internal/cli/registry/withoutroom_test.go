package registry

import (
	"path/filepath"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// With a full disk, reading commands work, and writing commands report the full disk.
func TestWithoutRoom(t *testing.T) {
	dir := testserver.SmallDisk(t)
	path := filepath.Join(dir, "registry.db")
	for _, name := range []string{"urn:example:a", "urn:example:b"} {
		out, status := storeCommand(t, path, "set", name, "--target", "https://example.org/"+name)
		wantOutput(t, out, status, 0)
	}
	testserver.Fill(t, dir)
	backup := filepath.Join(t.TempDir(), "backup.db")
	for _, c := range []struct {
		args    []string
		message string
	}{
		{[]string{"get", "urn:example:a"}, "https://example.org/urn:example:a"},
		{[]string{"history", "urn:example:a"}, "version 1"},
		{[]string{"search", "urn:example:"}, "urn:example:b"},
		{[]string{"export"}, "urn:example:b"},
		{[]string{"export", "--history"}, "urn:example:b"},
		{[]string{"verify"}, "no problem was found"},
		{[]string{"head"}, "2 "},
		{[]string{"changes"}, "2, "},
		{[]string{"changes", "--set", "1"}, "urn:example:a"},
		{[]string{"revert", "2", "--dry-run", "--note", "x"}, ""},
		{[]string{"stats"}, "the last one has the number 2"},
		{[]string{"check"}, "checked 2 names"},
		{[]string{"health"}, "0 unhealthy"},
		{[]string{"token", "list"}, ""},
		{[]string{"backup", backup}, "a backup of"},
		{[]string{"verify", backup}, "no problem was found"},
	} {
		out, status := storeCommand(t, path, c.args...)
		t.Log(c.args)
		wantOutput(t, out, status, 0, c.message)
	}
	for _, args := range [][]string{
		{"set", "urn:example:a", "--target", "https://example.org/new"},
		{"withdraw", "urn:example:a", "--reason", "gone"},
		{"mint", "urn:example:{counter}"},
		{"token", "create", "--name", "x", "--role", "writer"},
		{"redact", "urn:example:a", "--version", "1", "--reason", "x"},
	} {
		out, status := storeCommand(t, path, args...)
		t.Log(args)
		wantOutput(t, out, status, 1)
		if args[0] != "redact" {
			wantOutput(t, out, status, 1, "no space left")
		}
	}
}
