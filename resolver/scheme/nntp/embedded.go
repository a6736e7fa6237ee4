package nntp

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/emersion/go-message"
)

// embedded is a file in the text of an article without MIME: encoded by uuencode (POSIX) or yEnc (yEnc draft
// 1.3).
type embedded struct {
	name, note string
	bytes      []byte
}

// hasEmbedded reports whether the text of an article can have embedded files: a single text/plain without
// transfer encoding.
func hasEmbedded(e *message.Entity) bool {
	mediaType, _, err := e.Header.ContentType()
	switch strings.ToLower(e.Header.Get("Content-Transfer-Encoding")) {
	case "", "7bit", "8bit", "binary":
		return (err != nil || strings.EqualFold(mediaType, "text/plain")) && multipart(e) == nil
	default:
		return false
	}
}

// detach returns an article without its embedded files, and these files, at most maxParts. A file without an
// end stays in the text.
func detach(article []byte) (rest []byte, files []embedded) {
	header := len(article)
	for _, end := range []string{"\r\n\r\n", "\n\n"} {
		if i := bytes.Index(article, []byte(end)); i >= 0 {
			header = min(header, i+len(end))
		}
	}
	rest = append(rest, article[:header]...)
	for body := article[header:]; len(body) > 0; {
		if len(files) < maxParts {
			if file, length, ok := readEmbedded(body); ok {
				files, body = append(files, file), body[length:]
				continue
			}
		}
		_, after := cutLine(body)
		rest, body = append(rest, body[:len(body)-len(after)]...), after
	}
	return rest, files
}

// cutLine returns the first line of a text without its line end, and the rest.
func cutLine(b []byte) (line, after []byte) {
	line, after, _ = bytes.Cut(b, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), after
}

// readEmbedded decodes the file at the start of b; length is the number of bytes that it occupies in b.
func readEmbedded(b []byte) (file embedded, length int, ok bool) {
	switch {
	case bytes.HasPrefix(b, []byte("begin ")):
		file, length, ok = readUU(b)
	case bytes.HasPrefix(b, []byte("=ybegin ")):
		file, length, ok = readYEnc(b)
	}
	return file, length, ok
}

// readUU decodes "begin MODE NAME", lines that start with their length, and "end".
func readUU(b []byte) (file embedded, length int, ok bool) {
	first, after := cutLine(b)
	words := strings.SplitN(string(first), " ", 3)
	if len(words) < 3 || len(words[1]) < 3 || len(words[1]) > 4 || strings.Trim(words[1], "01234567") != "" {
		return embedded{}, 0, false
	}
	file.name = words[2]
	for len(after) > 0 {
		var line []byte
		line, after = cutLine(after)
		if string(line) == "end" {
			return file, len(b) - len(after), true
		}
		if file.bytes, ok = appendUU(file.bytes, line); !ok {
			break
		}
	}
	return embedded{}, 0, false
}

// appendUU appends the decoded bytes of a uuencode line. Spaces at its end may have been stripped.
func appendUU(to, line []byte) ([]byte, bool) {
	const low, high, bits, group = ' ', '`', 6, 4
	if len(line) == 0 {
		return to, true
	}
	at := func(i int) uint32 {
		if i >= len(line) {
			return 0
		}
		return uint32(line[i]-low) & (1<<bits - 1)
	}
	for _, c := range line {
		if c < low || c > high {
			return nil, false
		}
	}
	left := int(at(0))
	const three = 3 // bytes of a group
	if missing := (left+three-1)/three*group - (len(line) - 1); missing > group || missing < -group {
		return nil, false
	}
	for i := 1; left > 0; i += group {
		word := at(i)<<18 | at(i+1)<<12 | at(i+2)<<6 | at(i+3)
		byteCount := [three]byte{byte(word >> 16), byte(word >> 8), byte(word)} //nolint:gosec // word has 24 bits
		to = append(to, byteCount[:min(left, three)]...)
		left -= three
	}
	return to, true
}

// readYEnc decodes "=ybegin line=N size=N name=NAME", optionally "=ypart begin=N end=N", data lines, and "=yend
// size=N".
func readYEnc(b []byte) (file embedded, length int, ok bool) {
	first, after := cutLine(b)
	text := string(first)
	_, name, found := strings.Cut(text, " name=")
	if !found {
		return embedded{}, 0, false
	}
	if file.name = strings.TrimSpace(name); yencValue(text, "part") != "" {
		file.note = fmt.Sprintf("part %s of %s", yencValue(text, "part"), yencValue(text, "total"))
		file.name += ".part" + yencValue(text, "part")
	}
	if bytes.HasPrefix(after, []byte("=ypart ")) {
		_, after = cutLine(after)
	}
	for len(after) > 0 {
		var line []byte
		line, after = cutLine(after)
		if bytes.HasPrefix(line, []byte("=yend")) {
			if size := yencValue(string(line), "size"); size != strconv.Itoa(len(file.bytes)) {
				file.note = strings.TrimPrefix(file.note+", damaged: expected size "+size+" bytes", ", ")
			}
			return file, len(b) - len(after), true
		}
		if bytes.HasPrefix(line, []byte("=ybegin ")) { // avoids quadratic time in the search for the end
			break
		}
		file.bytes = appendYEnc(file.bytes, line)
	}
	return embedded{}, 0, false
}

func appendYEnc(to, line []byte) []byte {
	const shift, escaped = 42, 64
	for i := 0; i < len(line); i++ {
		c := line[i]
		if c == '=' && i+1 < len(line) {
			i++
			c = line[i] - escaped
		}
		to = append(to, c-shift)
	}
	return to
}

// yencValue returns the digits of a parameter in a yEnc line, "" for none.
func yencValue(line, name string) string {
	_, value, _ := strings.Cut(line, " "+name+"=")
	return value[:len(value)-len(strings.TrimLeft(value, "0123456789"))]
}
