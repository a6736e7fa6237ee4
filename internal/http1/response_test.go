package http1_test

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
)

// TestResponses parses and frames each response of the table.
func TestResponses(t *testing.T) {
	for v := range vectors(t, "testdata/responses.txt") {
		section, method, _ := strings.Cut(v.section, " ")
		h, _, err := http1.ReadResponse(bufio.NewReader(strings.NewReader(v.text)), nil, nil)
		var f http1.Framing
		if err == nil {
			f, err = h.Frame(cmp.Or(method, http.MethodGet))
		}
		got := "refused"
		if err == nil {
			got = strings.ToValidUTF8(strings.Join(framed(h, f), " "), "\ufffd")
		} else if !errors.As(err, new(*http1.Error)) {
			got = err.Error()
		}
		if got != v.want {
			t.Errorf("%s: section %s, %q: %s, want %s", v.where, section, v.text, got, v.want)
		}
	}
}

// framed formats the head and the framing of a response.
func framed(h http1.ResponseHead, f http1.Framing) (parts []string) {
	parts = append(parts, fmt.Sprint(h.Status))
	if h.Reason != "" {
		parts = append(parts, h.Reason)
	}
	if f.Empty {
		parts = append(parts, "empty")
	}
	switch {
	case f.Chunked:
		parts = append(parts, "chunked")
	case f.Length < 0 && !f.Empty:
		parts = append(parts, "until close")
	default:
		parts = append(parts, fmt.Sprint("length=", f.Length))
	}
	if f.KeepAlive {
		parts = append(parts, "persists")
	}
	return append(parts, fmt.Sprint(h.Fields))
}

// TestLinesOfResponse checks the limit of the number of lines.
func TestLinesOfResponse(t *testing.T) {
	const most = 8 << 10
	for n, want := range map[int]bool{0: true, 1: true, most: true, most + 1: false, 80_000: false} {
		h, err := http1.ParseResponse("HTTP/1.1 200 OK\r\n"+strings.Repeat("a:\r\n", n), nil)
		if (err == nil) != want || want && n > 0 && len(h.Fields.Values("A")) != n {
			t.Errorf("%d lines: %d, %v", n, len(h.Fields.Values("A")), err)
		}
	}
}

// TestResponseErrors checks that syntax errors are of type *Error, and that a premature end is not.
func TestResponseErrors(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for text, want := range map[string]string{
		"":                               "reading the response header: unexpected EOF",
		ok + "A: b\r\n":                  "reading the response header: unexpected EOF",
		"SSH-2.0\r\n\r\n":                `the response is not HTTP/1: "SSH-2.0"`,
		"HTTP/1.1 0200 OK\r\n\r\n":       `the status "0200" is not an HTTP status`,
		ok + "A b\r\n\r\n":               `a line of the response header is not a field: "A b"`,
		ok + "A: \x00\r\n\r\n":           `the value of its field "A"`,
		strings.Repeat(ok, 20_000):       "the response header exceeds 262144 bytes",
		"HTTP/1.1 200 \x00\r\n\r\n":      "the reason phrase has a control character",
		ok + "\r\n":                      "",
		"HTTP/1.1 200 OK\nA : b\n c\n\n": "",
	} {
		_, _, err := http1.ReadResponse(bufio.NewReader(strings.NewReader(text)), nil, nil)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want || err != nil && errors.As(err, new(*http1.Error)) == errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// TestResponseBuffer checks that fields are stored in the given memory if its capacity suffices.
func TestResponseBuffer(t *testing.T) {
	for n, fits := range map[int]bool{0: true, 4: true, 5: false} {
		var room [4]httpmessage.Field
		h, err := http1.ParseResponse("HTTP/1.1 200 OK\r\n"+strings.Repeat("A: b\r\n", n), room[:0])
		if err != nil || len(h.Fields) != n || (n > 0 && &h.Fields[0] == &room[0]) != (fits && n > 0) {
			t.Errorf("%d fields: %d, %v", n, len(h.Fields), err)
		}
	}
}

// TestAppendResponse checks that an appended head parses to the same values, and that no value can begin
// another line.
func TestAppendResponse(t *testing.T) {
	b := http1.AppendStatusLine(nil, 200, "")
	b = http1.AppendStatusLine(b, 599, "a\r\nb")
	b = http1.AppendStatusLine(b, 299, "")
	b = http1.AppendField(b, "X", "long enough to be looked at in words\r\nY: z\x00\t\xff\n")
	b = http1.AppendFields(b, httpmessage.NewFields("a-B", "", "", "c", "d e", "f", "g:", "h", "i", "\n"))
	const want = "HTTP/1.1 200 OK\r\nHTTP/1.1 599 a  b\r\nHTTP/1.1 299 \r\n" +
		"X: long enough to be looked at in words  Y: z \t\xff \r\na-B: \r\ni:  \r\n"
	if string(b) != want {
		t.Errorf("%q, want %q", b, want)
	}
}

// FuzzResponse checks that net/http parses and frames every head that is accepted in the same way.
func FuzzResponse(f *testing.F) {
	for _, text := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.0 599 Whatever\nA: b\n c\n\n", "HTTP/1.1 204\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: a\r\n\r\n0\r\nA: b\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n",
		"HTTP/1.1 101 \r\nUpgrade: a\r\n\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "HTTP/1.1 200 OK\r\n: b\r\n\r\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, _, err := http1.ReadResponse(bufio.NewReaderSize(strings.NewReader(text), 16), nil, nil)
		if err != nil {
			if !errors.As(err, new(*http1.Error)) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%v", err)
			}
			return
		}
		if h.Status < 100 || h.Status > 999 || !httpguts.ValidHeaderFieldValue(h.Reason) {
			t.Fatalf("%d %q", h.Status, h.Reason)
		}
		for _, f := range h.Fields {
			if !httpguts.ValidHeaderFieldName(f.Name) || !httpguts.ValidHeaderFieldValue(f.Value) {
				t.Fatalf("%q: %q", f.Name, f.Value)
			}
		}
		written := http1.AppendFields(http1.AppendStatusLine(nil, h.Status, h.Reason), h.Fields)
		again, err := http1.ParseResponse(string(written), nil)
		if err != nil || !slices.Equal(again.Fields, h.Fields) {
			t.Fatalf("%q, written and read again %q, %v", h.Fields, again.Fields, err)
		}
		checkFraming(t, text, &h)
	})
}

// checkFraming checks that net/http finds the same end of the response.
func checkFraming(t *testing.T, text string, h *http1.ResponseHead) {
	framed, err := h.Frame(http.MethodGet)
	if err != nil {
		if !errors.As(err, new(*http1.Error)) {
			t.Fatalf("%v", err)
		}
		return
	}
	other, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text)), &http.Request{Method: http.MethodGet})
	if err != nil {
		return // net/http rejects more, such as a space before a number
	}
	defer other.Body.Close()
	if other.StatusCode != h.Status {
		t.Fatalf("status %d, and %d of net/http", h.Status, other.StatusCode)
	}
	if h.Status < 200 || framed.Empty && framed.Length == 0 {
		return
	}
	if chunked := len(other.TransferEncoding) > 0; chunked != framed.Chunked || other.ContentLength != framed.Length {
		t.Fatalf("%+v, and length %d, chunked %t of net/http", framed, other.ContentLength, chunked)
	}
}
