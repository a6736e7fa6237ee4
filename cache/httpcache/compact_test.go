package httpcache

import (
	"fmt"
	"net/http"
	"reflect"
	"testing"
)

// TestCompacted: a header in memory of its own is the same one.
func TestCompacted(t *testing.T) {
	for _, header := range []http.Header{
		{}, {"A": {"1"}}, {"A": {"1", "2"}, "": {""}, "B": {"", "b"}}, {"a": {"1"}, "A": {"2"}},
	} {
		got := compacted(header)
		if !reflect.DeepEqual(got, header) {
			t.Errorf("%v is %v", header, got)
		}
		for name, lines := range got {
			_ = append(lines, "x")
			if !reflect.DeepEqual(got[name], header[name]) {
				t.Errorf("%v has changed", header)
			}
		}
		if !reflect.DeepEqual(got, header) {
			t.Errorf("%v is %v, where lines are appended", header, got)
		}
	}
}

// FuzzCompacted: as TestCompacted.
func FuzzCompacted(f *testing.F) {
	f.Add("A", "1", "2", "B", "")
	f.Fuzz(func(t *testing.T, name, one, two, other, three string) {
		header := http.Header{name: {one, two}}
		header[other] = append(header[other], three)
		if got := compacted(header); !reflect.DeepEqual(got, header) {
			t.Errorf("%v is %v", header, got)
		}
	})
}

// TestManyLinesAreNotStored: a response with more lines than are stored is for its client alone.
func TestManyLinesAreNotStored(t *testing.T) {
	for n, want := range map[int]bool{maxLines - 1: true, maxLines: false} {
		one, other := http.Header{"Cache-Control": {"max-age=60"}}, http.Header{"Cache-Control": {"max-age=60"}}
		for i := range n {
			one[fmt.Sprint("F", i)] = []string{""}
			other["F"] = append(other["F"], "")
		}
		for _, header := range []http.Header{one, other} {
			response := &Response{Status: 200, Header: header}
			directives, _ := (&Cache{}).directivesOf(&Request{}, header)
			if got := mayStoreResponse(&Request{Method: http.MethodGet}, nil, directives, response); got != want {
				t.Errorf("%d fields and one, in %d: %t", n, len(header), got)
			}
		}
	}
}
