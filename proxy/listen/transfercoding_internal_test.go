package listen

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzHead: the flags are those of the lines of the head, in whatever pieces it comes, and a line
// behind it counts for nothing.
func FuzzHead(f *testing.F) {
	for _, seed := range []string{
		"Host: a\r\nTransfer-Encoding: chunked\r\n\r\nContent-Length: 1\r\n", "content-length:1\n\n", "TRANSFER-ENCODING \t: a\r\n\r\n", "\r\n", "",
		"Transfer-Encodings: a\r\nContent-Lengt: b\r\n\r\n", strings.Repeat("a", 100) + ": b\r\n\r\n", "transfer-encoding\r\n\r\n",
	} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, piece int) {
		if piece < 1 {
			return
		}
		var h head
		h.begin([]byte("POST / HTTP/1.1\r"))
		for at := 0; at < len(text); at += min(piece, len(text)-at) {
			h.scan(text[at : at+min(piece, len(text)-at)])
		}
		ended, coded, length := false, false, false
		for line := range bytes.Lines(text) {
			if ended || line[len(line)-1] != '\n' {
				break
			}
			line = bytes.TrimRight(line[:len(line)-1], "\r")
			name, _, _ := strings.Cut(strings.ToLower(string(line)), ":")
			switch strings.TrimRight(name, " \t") {
			case codingField:
				coded = true
			case lengthField:
				length = true
			}
			ended = len(line) == 0
		}
		const enough = len(codingField) + 1 // octets of a line that are held: white space may reach beyond
		if got := h.scanned.Load(); got != ended {
			t.Errorf("%q: ended %t", text, got)
		}
		if got := h.coded.Load(); got != coded && !bytes.Contains(text, []byte(" ")) && !bytes.Contains(text, []byte("\t")) {
			t.Errorf("%q: coded %t, beyond %d octets", text, got, enough)
		}
		if got := h.length.Load(); got != length && !bytes.Contains(text, []byte(" ")) && !bytes.Contains(text, []byte("\t")) {
			t.Errorf("%q: length %t", text, got)
		}
	})
}
