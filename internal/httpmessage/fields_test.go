package httpmessage_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

// TestFields checks that names are compared case-insensitively (ASCII only), and that lines keep order and
// spelling.
func TestFields(t *testing.T) {
	f := httpmessage.NewFields("accept", "a", "X-Two", "1", "ACCEPT", "b", "x-two", "2", "x-two-", "3", "last")
	for _, tt := range []struct {
		name  string
		lines []string
	}{
		{"Accept", []string{"a", "b"}},
		{"accept", []string{"a", "b"}},
		{"X-TWO", []string{"1", "2"}},
		{"X-Two-", []string{"3"}},
		{"Last", []string{""}},
		{"", nil},
		{"X_Two", nil},
		{"Acce\u017ft", nil}, // folds to s in Unicode
	} {
		if got := f.Values(tt.name); !slices.Equal(got, tt.lines) || f.Has(tt.name) != (tt.lines != nil) {
			t.Errorf("%q: %q, %t", tt.name, got, f.Has(tt.name))
		}
		first := ""
		if len(tt.lines) > 0 {
			first = tt.lines[0]
		}
		if f.Get(tt.name) != first || f.List(tt.name) != strings.Join(tt.lines, ", ") {
			t.Errorf("%q: %q, %q", tt.name, f.Get(tt.name), f.List(tt.name))
		}
	}
}

// TestChanges checks that a replaced field keeps the position of its first line.
func TestChanges(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(f *httpmessage.Fields)
		want   []string
	}{
		"set":         {func(f *httpmessage.Fields) { f.Set("a", "3") }, []string{"a", "3", "B", "2"}},
		"set another": {func(f *httpmessage.Fields) { f.Set("b", "3") }, []string{"A", "1", "b", "3", "a", "4"}},
		"set a new one": {
			func(f *httpmessage.Fields) { f.Set("C", "3") },
			[]string{"A", "1", "B", "2", "a", "4", "C", "3"},
		},
		"add": {
			func(f *httpmessage.Fields) { f.Add("b", "") },
			[]string{"A", "1", "B", "2", "a", "4", "b", ""},
		},
		"remove":      {func(f *httpmessage.Fields) { f.Del("a") }, []string{"B", "2"}},
		"remove none": {func(f *httpmessage.Fields) { f.Del("AB") }, []string{"A", "1", "B", "2", "a", "4"}},
		"remove and add": {
			func(f *httpmessage.Fields) { f.Del("A"); f.Del("b"); f.Add("A", "5") },
			[]string{"A", "5"},
		},
		"add to a reading": {
			func(f *httpmessage.Fields) { _ = append(f.Values("B"), "x") },
			[]string{"A", "1", "B", "2", "a", "4"},
		},
	} {
		shared := httpmessage.NewFields("A", "1", "B", "2", "a", "4")
		f := shared.Clone()
		if tt.change(&f); !slices.Equal(f, httpmessage.NewFields(tt.want...)) {
			t.Errorf("%s: %v", name, f)
		}
		if !slices.Equal(shared, httpmessage.NewFields("A", "1", "B", "2", "a", "4")) {
			t.Errorf("%s: what it was copied from is %v", name, shared)
		}
	}
	var none httpmessage.Fields
	if none.Set("A", "1"); none.Get("a") != "1" || len(none) != 1 {
		t.Errorf("the zero value: %v", none)
	}
}

// TestFilter checks that a filtered copy is independent.
func TestFilter(t *testing.T) {
	f := httpmessage.NewFields("A", "1", "B", "2", "a", "3")
	kept := f.Filter(func(one httpmessage.Field) bool { return !one.HasName("a") })
	kept.Set("B", "4")
	kept.Add("C", "5")
	if !slices.Equal(kept, httpmessage.NewFields("B", "4", "C", "5")) ||
		!slices.Equal(f, httpmessage.NewFields("A", "1", "B", "2", "a", "3")) {
		t.Errorf("%v of %v", kept, f)
	}
}

// TestHeader checks the conversion to a net/http header with canonical names.
func TestHeader(t *testing.T) {
	header := http.Header{"Etag": {"before"}, "Date": {"now"}}
	f := httpmessage.NewFields("eTag", `"1"`, "x-a", "1", "X_a b", "2", "X-A", "3", "x-A", "4")
	f.CopyTo(header)
	want := http.Header{"Etag": {`"1"`}, "Date": {"now"}, "X-A": {"1", "3", "4"}, "X_a b": {"2"}}
	if len(header) != len(want) {
		t.Errorf("%q", header)
	}
	for name, lines := range want {
		if !slices.Equal(header[name], lines) {
			t.Errorf("%s: %q", name, header[name])
		}
		_ = append(header[name], "x")
	}
	many := slices.Repeat(f, 20)
	header = http.Header{"X-A": {"before"}}
	if many.CopyTo(header); len(header) != 3 || len(header["X-A"]) != 60 || header["X-A"][0] != "1" {
		t.Errorf("many: %q", header)
	}
	if got := httpmessage.FromHeader(http.Header{"B": {"2", "1"}, "A": nil, "C": {""}}); !slices.Equal(got,
		httpmessage.NewFields("B", "2", "B", "1", "C", "")) {
		t.Errorf("%v", got)
	}
	if got := f.Values("X-a"); !slices.Equal(got, []string{"1", "3", "4"}) {
		t.Errorf("%q", got)
	}
}

// FuzzFields checks Set and Del: the field is set or removed, other fields are unchanged, and net/http has the
// same.
func FuzzFields(f *testing.F) {
	f.Add("a: 1\nB: 2\na: 3", "A", "b", "c")
	f.Add("Via: 1.1 a\nvia: 1.1 b", "VIA", "x", "")
	f.Fuzz(func(t *testing.T, text, set, value, removed string) {
		var fields httpmessage.Fields
		for line := range strings.SplitSeq(text, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			fields.Add(name, value)
		}
		others := fields.Filter(func(one httpmessage.Field) bool { return !one.HasName(set) && !one.HasName(removed) })
		changed := fields.Clone()
		changed.Set(set, value)
		if changed.Get(set) != value || len(changed.Values(set)) != 1 {
			t.Errorf("%q is set: %q", set, changed)
		}
		header := changed.Header()
		count := 0
		for name, lines := range header {
			count += len(lines)
			var got []string
			for _, one := range changed {
				if one.Canonical() == name {
					got = append(got, one.Value)
				}
			}
			if !slices.Equal(got, lines) {
				t.Errorf("%q: %q, %q", name, lines, got)
			}
		}
		if count != len(changed) || len(httpmessage.FromHeader(header)) != len(changed) {
			t.Errorf("%d lines of %d", count, len(changed))
		}
		changed.Del(removed)
		if changed.Has(removed) {
			t.Errorf("%q is removed: %q", removed, changed)
		}
		changed.Del(set)
		if !slices.Equal(changed, others) {
			t.Errorf("%q, want %q", changed, others)
		}
	})
}

// typical returns the header fields of a typical response.
func typical() httpmessage.Fields {
	return httpmessage.NewFields(
		"Date", "Sat, 21 Nov 2026 08:00:00 GMT", "Server", "nginx", "Content-Type", "text/html; charset=utf-8",
		"Content-Length", "1024", "Last-Modified", "Sat, 21 Nov 2026 08:00:00 GMT", "Connection", "keep-alive", "Vary",
		"Accept-Encoding", "ETag", `"5d8c72a5edda8d6a"`, "Cache-Control", "max-age=3600", "Strict-Transport-Security",
		"max-age=31536000", "X-Frame-Options", "DENY", "Accept-Ranges", "bytes",
	)
}

// BenchmarkFields measures operations on 12 fields, and compares them with the map of net/http.
func BenchmarkFields(b *testing.B) {
	lines := typical()
	b.Run("make", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f := make(httpmessage.Fields, 0, len(lines))
			for _, one := range lines {
				f.Add(one.Name, one.Value)
			}
		}
	})
	b.Run("make/net-http", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			header := make(http.Header, len(lines))
			for _, one := range lines {
				header.Add(one.Name, one.Value)
			}
		}
	})
	requested := []string{"Cache-Control", "Vary", "Etag", "Content-Range", "Set-Cookie"}
	header := lines.Header()
	b.Run("look up", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, name := range requested {
				_ = lines.Values(name)
			}
		}
	})
	b.Run("look up/net-http", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, name := range requested {
				_ = header.Values(name)
			}
		}
	})
	b.Run("copy", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = lines.Clone()
		}
	})
	b.Run("copy/net-http", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = header.Clone()
		}
	})
	b.Run("to net-http", func(b *testing.B) {
		b.ReportAllocs()
		to := make(http.Header)
		for b.Loop() {
			lines.CopyTo(to)
		}
	})
	b.Run("from net-http", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = httpmessage.FromHeader(header)
		}
	})
}

// TestAllocations checks that looking up a field with one line and setting it in a net/http header do not
// allocate.
func TestAllocations(t *testing.T) {
	f, header := typical(), make(http.Header)
	f.CopyTo(header)
	if n := testing.AllocsPerRun(100, func() {
		if len(f.Values("cache-control")) != 1 || f.Get("ETag") == "" {
			t.Error("a field is missing")
		}
		f.CopyTo(header)
	}); n > 1 {
		t.Errorf("%v allocations", n) // Etag, whose canonical name differs
	}
}
