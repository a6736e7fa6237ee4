package scheme_test

import (
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
)

func TestMediaType(t *testing.T) {
	for _, tt := range []struct{ name, head, want string }{
		{"a.txt", "text", "text/plain"},
		{"a.TXT", "", "text/plain"},
		{"README", "text", "text/plain"},
		{"README", "", "application/octet-stream"},
		{"", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png"},
		{"a.txt", "\x7fELF\x02\x01\x01\x00\x00\x00\x00", "application/x-elf"},
		{"a.html", "<!DOCTYPE html><p>", "text/html"},
		{"a.txt", "<!DOCTYPE html><script>", "text/plain"}, // no page unless its name says so
		{"", "<html><script>alert(1)</script>", "text/plain"},
		{"logo", `<svg xmlns="http://www.w3.org/2000/svg"/>`, "text/plain"},
		{"a.tar.gz", "\x1f\x8b", "application/gzip"},
		{"a.jpg", "<html>", "image/jpeg"},
		{"/pub/a.deb", "!<arch>", "application/vnd.debian.binary-package"},
		{"a.unknown", "\x00\x01\x02\x03", "application/octet-stream"},
	} {
		if got := scheme.MediaType(tt.name, []byte(tt.head)); got != tt.want {
			t.Errorf("%s %q: %s, want %s", tt.name, tt.head, got, tt.want)
		}
	}
}
