package http1_test

import (
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"testing"
)

// vector is a row of a table in testdata: the section of the RFC, a message as a Go string literal, and the
// expected result.
type vector struct{ where, section, text, want string }

// vectors returns the rows of a table, whose columns are separated by tabs. Lines that begin with # are
// comments.
func vectors(t testing.TB, file string) iter.Seq[vector] {
	t.Helper()
	table, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(vector) bool) {
		number := 0
		for line := range strings.Lines(string(table)) {
			number++
			line = strings.TrimSuffix(line, "\n")
			if line == "" || line[0] == '#' {
				continue
			}
			where := fmt.Sprintf("%s:%d", file, number)
			parts := strings.FieldsFunc(line, func(r rune) bool { return r == '\t' })
			if len(parts) != 3 {
				t.Fatalf("%s: %d columns", where, len(parts))
			}
			text, err := strconv.Unquote(parts[1])
			if err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			if !yield(vector{where, parts[0], text, parts[2]}) {
				return
			}
		}
	}
}
