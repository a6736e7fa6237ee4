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
			if line = line[:len(line)-1]; len(bytes.TrimRight(line, "\r")) == 0 {
				line = nil
			}
			name, _, isField := strings.Cut(string(line), ":")
			coded = coded || isField && strings.EqualFold(name, codingField)
			length = length || isField && strings.EqualFold(name, lengthField)
			ended = len(line) == 0
		}
		if got := [3]bool{h.scanned, h.coded, h.length}; got != [3]bool{ended, coded, length} {
			t.Errorf("%q: ended, coded, length: %t", text, got)
		}
	})
}
