package main

import (
	"os"
	"path/filepath"
	"testing"
)

// helperConfig writes a configuration with a namespace "book" whose names lead to origin, and a
// DNS server that is not there.
func helperConfig(t *testing.T, dir, origin string) string {
	t.Helper()
	path := filepath.Join(dir, "urnd.yaml")
	text := "dns: {servers: ['127.0.0.1:9'], timeout: 1s, rounds: 1}\nnamespaces:\n" +
		"  - {nid: book, order: [namespace], targets: [{pattern: '^[0-9]+$', template: '" + origin + "/books/{nss}'}, {pattern: '^[0-9]+$', template: 'https://mirror.example/{nss}'}]}\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
