package urndtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Version returns the version of the product's module, such as "1.0.0".
func Version(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(), "cmd", "urnd", "version.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}
