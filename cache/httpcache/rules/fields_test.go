package rules

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

// TestCompacted: fields in memory of their own are the same ones.
func TestCompacted(t *testing.T) {
	for _, fields := range []httpmessage.Fields{
		{}, httpmessage.FieldsOf("A", "1"), httpmessage.FieldsOf("A", "1", "B", "", "", "", "a", "2", "B", "b"), httpmessage.FieldsOf("a", "1", "A", "2"),
	} {
		got := Compact(fields)
		if !slices.Equal(got, fields) || got == nil || cap(got) != len(fields) {
			t.Errorf("%v is %v", fields, got)
		}
		checkLines(t, got)
	}
}

// checkLines compares the lines of compacted fields: each one, and those of each two in the order of their names.
func checkLines(t *testing.T, fields httpmessage.Fields) {
	t.Helper()
	lineOf := func(f httpmessage.Field) string { return f.Name + ": " + f.Value + "\r\n" }
	sorted := slices.Clone(fields)
	slices.SortStableFunc(sorted, func(a, b httpmessage.Field) int { return strings.Compare(a.Name, b.Name) })
	for i, f := range sorted {
		if got := LinesOf(f, f); got != lineOf(f) {
			t.Errorf("%v: %q", f, got)
		}
		if f.Name == "" {
			continue
		}
		want := ""
		for _, last := range sorted[i:] {
			if want += lineOf(last); LinesOf(f, last) != want {
				t.Errorf("from %v to %v: %q", f, last, LinesOf(f, last))
			}
		}
	}
}

// FuzzCompacted: as TestCompacted.
func FuzzCompacted(f *testing.F) {
	f.Add("A", "1", "2", "B", "")
	f.Fuzz(func(t *testing.T, name, one, two, other, three string) {
		fields := httpmessage.FieldsOf(name, one, other, three, name, two)
		if got := Compact(fields); !slices.Equal(got, fields) {
			t.Errorf("%v is %v", fields, got)
		}
		checkLines(t, Compact(fields))
	})
}

// TestManyLinesAreNotStored: a response with more lines than are stored is for its client alone.
func TestManyLinesAreNotStored(t *testing.T) {
	for n, want := range map[int]bool{maxLines - 1: true, maxLines: false} {
		one, other := httpmessage.FieldsOf("Cache-Control", "max-age=60"), httpmessage.FieldsOf("Cache-Control", "max-age=60")
		for i := range n {
			one.Add(fmt.Sprint("F", i), "")
			other.Add("F", "")
		}
		for _, header := range []httpmessage.Fields{one, other} {
			response := &httpmessage.Response{Status: 200, Fields: header}
			directives := NewControl(nil, header, nil).Directives
			if got := MayStore(&httpmessage.Request{Method: http.MethodGet}, RequestDirectives{}, directives, response); got != want {
				t.Errorf("%d fields and one, in %d: %t", n, len(header), got)
			}
		}
	}
}
