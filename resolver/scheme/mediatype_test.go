package scheme_test

import (
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
)

// xhtml is a page with a script; its XML declaration makes it XHTML.
const xhtml = `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>`

func TestMediaType(t *testing.T) {
	for _, tt := range []struct{ name, head, want string }{
		{"a.txt", "text", "text/plain"},
		{"a.TXT", "", "text/plain"},
		{"README", "text", "text/plain"},
		{"README", "", "application/octet-stream"},
		{"", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png"},
		{"a.txt", "\x7fELF\x02\x01\x01\x00\x00\x00\x00", "application/x-elf"},
		{"a.html", "<!DOCTYPE html><p>", "text/html"},
		{"a.txt", "<!DOCTYPE html><script>", "text/plain"}, // HTML only by its name
		{"", "<html><script>alert(1)</script>", "text/plain"},
		{"logo", `<svg xmlns="http://www.w3.org/2000/svg"/>`, "text/plain"},
		{"a.tar.gz", "\x1f\x8b", "application/gzip"},
		{"a.jpg", "<html>", "image/jpeg"},
		{"/pub/a.deb", "!<arch>", "application/vnd.debian.binary-package"},
		{"upload.txt", xhtml, "text/plain"},
		{"upload", xhtml, "text/plain"},
		{"", xhtml, "text/plain"},
		{"a.html", xhtml, "text/html"},
		{"a.xhtml", xhtml, "application/xhtml+xml"},
		{"notes.txt", `{"a": [1, 2]}`, "text/plain"},
		{"notes", `{"a": [1, 2]}`, "text/plain"},
		{"a.json", `{"a": 1}`, "application/json"},
		{"feed", `<?xml version="1.0"?><rss version="2.0">`, "text/plain"},
		{"a.md", `<svg xmlns="http://www.w3.org/2000/svg"/>`, "text/plain"},
		{"a.eml", "From: a\r\n", "message/rfc822"},
		{"letter", `{\rtf1 a}`, "text/plain"},
		{"a.csv", "#!/bin/sh\n", "text/csv"},
		{"a.html", "%PDF-1.4", "application/pdf"},
		{"a.txt", "\xff\xfea\x00", "text/plain"},
		{"a.wasm", "", "application/wasm"}, // from package mime
		{"a.wasm", "text", "text/plain"},
		{"a.wasm", "\x00\x01\x02\x03", "application/wasm"},
		{"a.avif", "\x00\x01\x02\x03", "image/avif"},
		{"a.unknown", "\x00\x01\x02\x03", "application/octet-stream"},
	} {
		if got := scheme.MediaType(tt.name, []byte(tt.head)); got != tt.want {
			t.Errorf("%s %q: %s, want %s", tt.name, tt.head, got, tt.want)
		}
	}
}
