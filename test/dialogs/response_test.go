//go:build e2e

package dialogs

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// received is a response as received.
type received struct {
	head     string // status line and fields, including the empty line
	status   int
	body     []byte
	framing  string // how the end of the body was determined
	trailers string
	cut      bool // the body is truncated
	closing  bool // the response announces that the connection is closed
	lines    []string
}

// most limits the size of a head or a body.
const most = 32 << 20

// readResponse reads a response to a request with the method. Invalid framing is an error; the part read so far
// is returned with it.
func readResponse(reader *bufio.Reader, method string) (received, error) {
	var r received
	for !strings.HasSuffix(r.head, "\n\r\n") && !strings.HasSuffix(r.head, "\n\n") {
		line, err := reader.ReadString('\n')
		r.head += line
		if err != nil {
			if r.head != "" && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return r, err
		}
		if len(r.head) > most {
			return r, errors.New("the head is too long")
		}
	}
	words := strings.SplitN(r.head, " ", 3)
	if len(words) < 2 || !strings.HasPrefix(words[0], "HTTP/") {
		return r, fmt.Errorf("no status line: %.60q", r.head)
	}
	var err error
	if r.status, err = strconv.Atoi(strings.TrimSpace(words[1])); err != nil {
		return r, fmt.Errorf("no status: %.60q", r.head)
	}
	return r, r.readBody(reader, method, words[0])
}

func (r *received) readBody(reader *bufio.Reader, method, version string) error {
	connection := strings.ToLower(strings.Join(r.field("Connection"), ","))
	r.closing = r.status >= 200 &&
		(strings.Contains(connection, "close") || version == "HTTP/1.0" && !strings.Contains(connection, "keep-alive"))
	coding, length := r.field("Transfer-Encoding"), r.field("Content-Length")
	switch {
	case r.status == 101 || method == "CONNECT" && r.status/100 == 2:
		r.framing, r.closing = "tunnel", false
	case method == "HEAD" || r.status < 200 || r.status == 204 || r.status == 304:
		r.framing = "none"
	case len(coding) > 0:
		r.framing = "chunked"
		return r.readChunks(reader)
	case len(length) > 0:
		r.framing = "length"
		size, err := strconv.ParseInt(length[0], 10, 32)
		if err != nil {
			return err
		}
		r.body, err = io.ReadAll(io.LimitReader(reader, size))
		if r.cut = err != nil || int64(len(r.body)) < size; r.cut && err == nil {
			err = io.EOF
		}
		return err
	default:
		r.framing, r.closing = "until close", true
		var err error
		r.body, err = io.ReadAll(io.LimitReader(reader, most))
		if err == nil {
			err = io.EOF
		}
		return err
	}
	return nil
}

func (r *received) readChunks(reader *bufio.Reader) error {
	r.cut = true
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return err
		}
		digits, extension, _ := strings.Cut(strings.TrimSuffix(line, "\r\n"), ";")
		size, err := strconv.ParseUint(digits, 16, 31)
		if err != nil {
			return fmt.Errorf("a chunk begins with %.40q", line)
		}
		if extension != "" {
			r.framing = "chunked with extensions"
		}
		if size == 0 {
			break
		}
		chunk := make([]byte, size+2)
		n, err := io.ReadFull(reader, chunk)
		r.body = append(r.body, chunk[:min(n, int(size))]...)
		if err != nil {
			return err
		}
	}
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return err
		}
		if line == "\r\n" {
			r.cut = false
			return nil
		}
		r.trailers += line
	}
}

// field returns the values of the field lines with a name.
func (r *received) field(name string) []string {
	var values []string
	for line := range strings.Lines(r.head) {
		if found, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(found, name) {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
}

// render formats a response as normalized lines.
func (r *received) render(n *normalizer) []string {
	head, body := r.head, r.body
	note := r.framing
	if unpacked, ok := unpack(body, r.field("Content-Encoding")); ok {
		body, note = unpacked, note+", gzip"
	}
	normal := n.body(body, boundaryOf(r.field("Content-Type")))
	if !bytes.Equal(normal, body) || durations.Match(body) || ages.Match(body) || strings.HasSuffix(note, "gzip") {
		for _, name := range []string{"Content-Length", "content-length"} {
			head = strings.Replace(head, fmt.Sprintf("\n%s: %d\r\n", name, len(r.body)), "\n"+name+": <exact>\r\n", 1)
		}
	}
	head, note = r.timed(head, note)
	var lines []string
	if strings.Contains(strings.ReplaceAll(head, "\r\n", ""), "\n") {
		note += ", a line ends with LF alone"
	}
	for line := range strings.Lines(n.head(head)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			lines = append(lines, "< "+escape(line))
		}
	}
	if r.cut {
		note += ", cut off"
	}
	lines = append(lines, n.bodyLines(normal, note)...)
	for line := range strings.Lines(r.trailers) {
		lines = append(lines, "< (trailer) "+escape(n.head(strings.TrimRight(line, "\r\n"))))
	}
	return lines
}

// Lengths and framing that depend on durations, and therefore differ between runs: see README.md.
var (
	lengthLine  = regexp.MustCompile(`(?mi)^(Content-Length): \d+\r\n`)
	framingLine = regexp.MustCompile(`(?mi)^(Content-Length: .*|Transfer-Encoding: chunked)\r\n`)
)

// timed replaces the length of an API document that contains microseconds, in a response to HEAD; and the
// framing of the lines of a batch, which has a length if all lines were complete before the first flush, and is
// chunked otherwise.
func (r *received) timed(head, note string) (string, string) {
	kind := strings.Join(r.field("Content-Type"), "")
	switch {
	case kind == "application/x-ndjson":
		return framingLine.ReplaceAllString(head, ""), "length or chunks"
	case kind == "application/json" && len(r.body) == 0:
		return lengthLine.ReplaceAllString(head, "$1: <of the body>\r\n"), note
	}
	return head, note
}

func unpack(body []byte, coding []string) ([]byte, bool) {
	if len(coding) != 1 || coding[0] != "gzip" {
		return body, false
	}
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body, false
	}
	unpacked, err := io.ReadAll(io.LimitReader(reader, most))
	return unpacked, err == nil
}

// escape formats bytes as text: non-printable characters and backslashes are escaped as in Go strings.
func escape(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		c, size := utf8.DecodeRuneInString(text)
		switch {
		case c == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "\\x%02x", text[0])
		case c == '\\':
			b.WriteString(`\\`)
		case strconv.IsPrint(c):
			b.WriteRune(c)
		default:
			quoted := strconv.QuoteRune(c)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[size:]
	}
	return shorten(b.String())
}

// shorten replaces a run of at least 40 equal bytes by "x{40}".
func shorten(text string) string {
	const least = 40
	var b strings.Builder
	for i := 0; i < len(text); {
		end := i + 1
		for end < len(text) && text[end] == text[i] {
			end++
		}
		if end-i >= least {
			fmt.Fprintf(&b, "%c{%d}", text[i], end-i)
		} else {
			b.WriteString(text[i:end])
		}
		i = end
	}
	return b.String()
}

// sentLines formats the data sent by a client; a line shows its end unless that is CRLF.
func sentLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		ending := ""
		switch {
		case strings.HasSuffix(line, "\r\n"):
			line = strings.TrimSuffix(line, "\r\n")
		case strings.HasSuffix(line, "\n"):
			line, ending = strings.TrimSuffix(line, "\n"), "[LF]"
		default:
			ending = "[]"
		}
		lines = append(lines, "> "+escape(line)+ending)
	}
	const keep = 60
	if len(lines) > keep {
		lines = append(lines[:keep:keep],
			fmt.Sprintf("> [%d more lines, sha256 %s of all]", len(lines)-keep, hashOf([]byte(text))))
	}
	for i, line := range lines {
		if len(line) > 600 {
			lines[i] = fmt.Sprintf("%s[%d more characters, sha256 %s of all]", line[:500], len(line)-500,
				hashOf([]byte(line)))
		}
	}
	return lines
}

// receivedLines formats the data received in a tunnel.
func receivedLines(text []byte) []string {
	var lines []string
	for line := range strings.Lines(string(text)) {
		lines = append(lines, "< "+escape(line))
	}
	return lines
}
