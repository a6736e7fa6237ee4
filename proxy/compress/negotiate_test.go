package compress_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/compress"
)

var all = []string{compress.Zstd, compress.Brotli, compress.Gzip}

func TestNegotiate(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		want  string
	}{
		{nil, ""},
		{[]string{""}, ""},
		{[]string{"gzip"}, "gzip"},
		{[]string{"GZip"}, "gzip"},
		{[]string{"x-gzip"}, "gzip"},
		{[]string{"deflate"}, ""},
		{[]string{"gzip, deflate, br, zstd"}, "zstd"},
		{[]string{"gzip, deflate", "br"}, "br"},
		{[]string{"gzip;q=1.0, br;q=0.9"}, "gzip"},
		{[]string{"gzip ; q=0.5 , br ;q=0.501"}, "br"},
		{[]string{"gzip;q=0"}, ""},
		{[]string{"gzip;q=0.000, *"}, "zstd"},
		{[]string{"*"}, "zstd"},
		{[]string{"*;q=0"}, ""},
		{[]string{"zstd;q=0, *;q=0.1"}, "br"},
		{[]string{"identity"}, ""},
		{[]string{"identity, gzip"}, "gzip"},
		{[]string{"identity, gzip;q=0.9"}, ""},
		{[]string{"identity;q=0, gzip;q=0.001"}, "gzip"},
		{[]string{"gzip;q=2"}, ""},
		{[]string{"gzip;q=1.001"}, ""},
		{[]string{"gzip;q=.5"}, ""},
		{[]string{"gzip;q=0.5555"}, ""},
		{[]string{"gzip;level=9"}, ""},
		{[]string{"gzip;q=0, gzip"}, ""},
		{[]string{strings.Repeat("a,", 40) + "gzip"}, ""},
		{[]string{",, ,gzip"}, "gzip"},
	} {
		if got := compress.Negotiate(tt.lines, all); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.lines, got, tt.want)
		}
	}
	if got := compress.Negotiate([]string{"br, zstd"}, []string{compress.Gzip}); got != "" {
		t.Errorf("a coding that is not offered: %q", got)
	}
	lines := []string{"gzip, deflate, br;q=0.9, zstd;q=0.1, *;q=0"}
	if n := testing.AllocsPerRun(100, func() { compress.Negotiate(lines, all) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestSelecting requires that equivalent requests have the same canonical Accept-Encoding, for origins and for
// the cache key.
func TestSelecting(t *testing.T) {
	const browser = "gzip, deflate, br, zstd"
	none := compress.Config{Codings: []string{"lzma"}}
	if compress.New(none) != nil {
		t.Error("a Compressor without codings")
	}
	for _, tt := range []struct {
		name   string
		config compress.Config
		fields []string
		want   string
	}{
		{"none", compress.Config{Codings: all}, nil, "identity"},
		{"browser", compress.Config{Codings: all}, []string{"Accept-Encoding", browser}, "zstd"},
		{"preference", compress.Config{Codings: []string{"gzip", "br"}}, []string{"Accept-Encoding", browser}, "gzip"},
		{
			"other coding",
			compress.Config{Codings: []string{"zstd"}},
			[]string{"Accept-Encoding", "gzip"},
			"gzip, identity;q=0.5",
		},
		{"unknown coding", compress.Config{Codings: all}, []string{"Accept-Encoding", "deflate"}, "identity"},
		{
			"no identity",
			compress.Config{Codings: all},
			[]string{"Accept-Encoding", "deflate, identity;q=0"},
			"deflate, identity;q=0",
		},
		{"nothing else", compress.Config{Codings: all}, []string{"Accept-Encoding", "zstd, *;q=0"}, "zstd"},
		{
			"range",
			compress.Config{Codings: all},
			[]string{"Accept-Encoding", browser, "Range", "bytes=0-1"},
			"identity",
		},
		{
			"cookie",
			compress.Config{Codings: all},
			[]string{"Accept-Encoding", browser, "Cookie", "a=b"},
			"br, gzip, zstd, identity;q=0.5",
		},
		{
			"one coding with a cookie",
			compress.Config{Codings: all},
			[]string{"Accept-Encoding", "gzip", "Cookie", "a=b"},
			"gzip, identity;q=0.5",
		},
		{
			"user",
			compress.Config{Codings: all},
			[]string{"Accept-Encoding", "br", "Authorization", "Basic YTpi"},
			"br, identity;q=0.5",
		},
		{
			"credentials",
			compress.Config{Codings: all, WithCredentials: true},
			[]string{"Accept-Encoding", "br", "Cookie", "a=b"},
			"br",
		},
	} {
		lines := httpmessage.Header(httpmessage.NewFields(tt.fields...).Values)
		c := compress.New(tt.config)
		if got := c.NormalizeAcceptEncoding(lines); !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if n := testing.AllocsPerRun(100, func() { c.NormalizeAcceptEncoding(lines) }); n > 0 {
			t.Errorf("%s: %v allocations", tt.name, n)
		}
	}
}

// FuzzNegotiate requires for any Accept-Encoding that the coding is listed in it, or matches "*".
func FuzzNegotiate(f *testing.F) {
	for _, line := range []string{
		"gzip, br;q=0.9", "*;q=0", "identity;q=0, *;q=0.001", ";;;,",
		"gzip;q=1.0000", "x-gzip",
	} {
		f.Add(line)
	}
	c := compress.New(compress.Config{Codings: all})
	f.Fuzz(func(t *testing.T, line string) {
		lines := []string{line}
		got := compress.Negotiate(lines, all)
		lower := strings.ToLower(line)
		if got != "" && (!slices.Contains(all, got) || !strings.Contains(lower, got) && !strings.Contains(line, "*")) {
			t.Fatalf("%q for %q", got, line)
		}
		selecting := c.NormalizeAcceptEncoding(httpmessage.NewFields("Accept-Encoding", line).Values)
		if len(selecting) != 1 || (got != "") != slices.Contains(all, selecting[0]) ||
			got != "" && selecting[0] != got {
			t.Fatalf("%q, negotiated %q, selects by %q", line, got, selecting)
		}
		// The result is a fixed point, unless it is the client's own list.
		if again := c.NormalizeAcceptEncoding(httpmessage.NewFields("Accept-Encoding",
			selecting[0]).Values); got != "" && again[0] != got {
			t.Fatalf("%q becomes %q", selecting[0], again)
		}
	})
}
