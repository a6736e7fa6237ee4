package main

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// The versions of stored formats are those in the documentation of downgrades. A change of a format must
// update the documentation, including the consequences for a downgrade.
func TestFormats(t *testing.T) {
	text := readFile(t, "../../docs/recipes.md")
	message := func(row string) {
		t.Helper()
		if !strings.Contains(text, row) {
			t.Errorf("docs/recipes.md does not say %q", row)
		}
	}
	message(fmt.Sprintf("| the registry, in SQLite and PostgreSQL | schema %d |",
		newestSchema(t, "../../resolver/registry/store/schema")))
	web := serveHTTP(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = w.Write([]byte("a response"))
	})
	answers, responses := t.TempDir(), t.TempDir()
	d := startDaemon(t, "127.0.0.1:9", 0, savedIn(answers, openLoopback, func(c *config.Config) {
		c.Cache.Disk, c.Cache.DiskDirectory = 64<<20, responses
	}))
	d.get(t, "/urn:ietf:rfc:2648")
	d.proxied(t, http.MethodGet, "http://"+web.addr+"/a")
	testserver.Wait(t, "the response is on disk", func() bool { return storedFile(t, responses) != "" })
	d.stop()
	format, _, _ := strings.Cut(strings.TrimPrefix(readFile(t, filepath.Join(answers, "answers")), "urnd answers "),
		" ")
	message("| saved answers (`cache.directory`) | " + format + " |")
	const footer = 32 // bytes: the text "urnd", the version, and the rest
	file := readFile(t, storedFile(t, responses))
	end := file[max(len(file)-footer, 0):]
	if !strings.HasPrefix(end, "urnd") {
		t.Fatalf("a stored response ends in %q", end)
	}
	message(fmt.Sprintf("| HTTP responses on disk (`cache.disk`) | %d |", binary.LittleEndian.Uint16([]byte(end[4:]))))
}

// newestSchema returns the number of the last migration in a directory.
func newestSchema(t *testing.T, directory string) (newest int) {
	t.Helper()
	files, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if filepath.Ext(file.Name()) != ".sql" {
			continue
		}
		n := 0
		if _, err := fmt.Sscanf(file.Name(), "%d_", &n); err != nil {
			t.Fatalf("%s: %v", file.Name(), err)
		}
		newest = max(newest, n)
	}
	return newest
}

// storedFile returns the path of a response in the directory of the disk cache, "" for none.
func storedFile(t *testing.T, directory string) (found string) {
	t.Helper()
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.Count(entry.Name(), "-") == 2 {
			found = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
