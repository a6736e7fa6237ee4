package rules

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

// TestCompacted: compacted fields are equal to the original.
func TestCompacted(t *testing.T) {
	for _, fields := range []httpmessage.Fields{
		{},
		httpmessage.NewFields("A", "1"), httpmessage.NewFields("A", "1", "B", "", "", "", "a", "2", "B", "b"),
		httpmessage.NewFields("a", "1", "A", "2"),
	} {
		got := Compact(fields)
		if !slices.Equal(got, fields) || got == nil || cap(got) != len(fields) {
			t.Errorf("%v is %v", fields, got)
		}
	}
}

// FuzzCompacted checks what TestCompacted checks.
func FuzzCompacted(f *testing.F) {
	f.Add("A", "1", "2", "B", "")
	f.Fuzz(func(t *testing.T, name, one, two, other, three string) {
		fields := httpmessage.NewFields(name, one, other, three, name, two)
		if got := Compact(fields); !slices.Equal(got, fields) {
			t.Errorf("%v is %v", fields, got)
		}
	})
}

// TestManyLinesAreNotStored: a response with more than maxLines field lines is not stored.
func TestManyLinesAreNotStored(t *testing.T) {
	for n, want := range map[int]Reason{maxLines - 1: ReasonNone, maxLines: ReasonManyFields} {
		one, other := httpmessage.NewFields("Cache-Control", "max-age=60"),
			httpmessage.NewFields("Cache-Control", "max-age=60")
		for i := range n {
			one.Add(fmt.Sprint("F", i), "")
			other.Add("F", "")
		}
		for _, header := range []httpmessage.Fields{one, other} {
			response := &httpmessage.Response{Status: 200, Fields: header}
			control := NewControl(nil, header, nil)
			if got := MayStore(&httpmessage.Request{Method: http.MethodGet}, RequestDirectives{}, control,
				response); got != want {
				t.Errorf("%d fields and one, in %d: %s", n, len(header), got.Code())
			}
		}
	}
}
