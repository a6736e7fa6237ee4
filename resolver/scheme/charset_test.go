package scheme_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/scheme"
)

// TestWithCharset requires that a declared charset (HTML standard, section 13.2.3.2) takes precedence over
// detection.
func TestWithCharset(t *testing.T) {
	long := strings.Repeat("a", scheme.SniffLength)
	for _, tt := range []struct{ media, head, want string }{
		{"text/plain", "plain", "text/plain; charset=utf-8"},
		{"text/plain", "", "text/plain; charset=utf-8"},
		{"text/plain", strings.Repeat("a", 5000) + "ü", "text/plain; charset=utf-8"},
		{"text/plain", strings.Repeat("a", 5000) + "\xfc", "text/plain; charset=windows-1252"},
		{"text/plain", long, "text/plain"}, // the rest may be in any charset
		{"text/plain", "ü" + long[:scheme.SniffLength-3] + "\xc3", "text/plain; charset=utf-8"},
		{"text/plain", "\xff\xfea\x00", "text/plain; charset=utf-16le"},
		{"text/plain", "\xfe\xff\x00a", "text/plain; charset=utf-16be"},
		{"text/plain", "\xef\xbb\xbfa", "text/plain; charset=utf-8"},
		{"text/plain", "<meta charset=shift_jis>", "text/plain; charset=utf-8"},
		{"text/html", "<meta charset=Shift_JIS>\x83\x65", "text/html; charset=shift_jis"},
		{
			"text/html", "<!doctype html><META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=koi8-r'>\xc1",
			"text/html; charset=koi8-r",
		},
		{"text/html", "<meta charset='latin1'>ü", "text/html; charset=windows-1252"},
		{"text/html", "<meta charset=utf-16>", "text/html; charset=utf-8"},
		{"text/html", "<meta charset=utf-7>\xfc", "text/html; charset=windows-1252"},
		{"text/html", "<meta charset='a\r\nb'>", "text/html; charset=utf-8"},
		{"text/html", "<meta name=a content='text/html; charset=koi8-r'>", "text/html; charset=utf-8"},
		{"text/html", "<!-- <meta charset=koi8-r> -->", "text/html; charset=utf-8"},
		{"text/html", "\xef\xbb\xbf<meta charset=koi8-r>", "text/html; charset=utf-8"},
		{"application/pdf", "%PDF", "application/pdf"},
	} {
		if got := scheme.WithCharset(tt.media, []byte(tt.head)); got != tt.want {
			t.Errorf("%s %.60q: %s, want %s", tt.media, tt.head, got, tt.want)
		}
	}
}

func FuzzWithCharset(f *testing.F) {
	for _, head := range []string{
		"", "ü\xc3", "<meta charset=koi8-r>",
		"<meta http-equiv=content-type content='text/html; charset=\"latin1\"'>",
	} {
		f.Add([]byte(head))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		got := scheme.WithCharset("text/html", head)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\r\n,\"") || strings.Count(got, ";") > 1 {
			t.Errorf("%q", got)
		}
	})
}
