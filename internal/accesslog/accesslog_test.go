package accesslog_test

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/accesslog"
)

// newLogOf returns a log in a valid format.
func newLogOf(w io.Writer, format string, lost func()) *accesslog.Log {
	f, err := accesslog.ParseFormat(format)
	if err != nil {
		panic(err)
	}
	return accesslog.New(w, accesslog.Config{Format: f, Lost: lost})
}

// write writes an entry to w.
func write(t *testing.T, w io.Writer, format string, e accesslog.Entry) {
	t.Helper()
	log := newLogOf(w, format, func() { t.Error("a line is lost") })
	log.Write(e)
	log.Close()
}

func TestFormats(t *testing.T) {
	e := accesslog.Entry{
		Time: time.Date(2026, 11, 21, 12, 0, 0, 5e6, time.UTC), Took: 1500 * time.Microsecond,
		Client: netip.MustParseAddr("192.0.2.1"), User: "a b",
		Method: "GET", Target: "/http://u:secret@h/\"\r\n\\ü", Proto: "HTTP/1.1", Status: 302, Bytes: 7, Cache: "hit",
		Form: "path", Service: "I2L", RequestID: "42", UserAgent: "a\"b", Type: "text/html; charset=utf-8",
	}
	for format, want := range map[string]string{
		"json": `{"time":"2026-11-21T12:00:00.005Z","client":"192.0.2.1","user":"a b","method":"GET","target":"/http://u:xxxxx@h/\"\r\n\\ü","proto":"HTTP/1.1","status":302,"bytes":7,` +
			`"ms":1.5,"cache":"hit","form":"path","service":"I2L","request_id":"42","user_agent":"a\"b"}`,
		"combined": `192.0.2.1 - a b [21/Nov/2026:12:00:00 +0000] "GET /http://u:xxxxx@h/\"\r\n\\\xc3\xbc HTTP/1.1" 302 7 "-" "a\"b"`,
		"squid":    `1795262400.005      1 192.0.2.1 TCP_MEM_HIT/302 7 GET /http://u:xxxxx@h/"%0D%0A\%C3%BC a b HIER_NONE/- text/html`,
	} {
		var b bytes.Buffer
		write(t, &b, format, e)
		if got := b.String(); got != want+"\n" {
			t.Errorf("%s:\ngot  %swant %s", format, got, want)
		}
	}
}

// TestRule checks that JSON contains the rule of the site that applied, if any.
func TestRule(t *testing.T) {
	var b bytes.Buffer
	write(t, &b, "json", accesslog.Entry{Cache: "bypass", Rule: "no-1"})
	if got := b.String(); !strings.Contains(got, `"cache":"bypass","rule":"no-1","form":`) {
		t.Error(got)
	}
}

// TestOneLine checks that no data sent by a client produces more than one line.
func TestOneLine(t *testing.T) {
	var b bytes.Buffer
	hostile := "\r\n\x00\u2028\xff\" - -"
	for _, format := range []string{"json", "combined", "squid"} {
		write(t, &b, format, accesslog.Entry{
			User: hostile, Method: hostile, Target: hostile, Referer: hostile,
			UserAgent: hostile, Type: hostile,
		})
	}
	if got := b.String(); strings.Count(got, "\n") != 3 || strings.ContainsAny(got, "\r\x00") {
		t.Errorf("%q", got)
	}
}

// limitedWriter fails after space bytes are written, like a full disk.
type limitedWriter struct {
	bytes.Buffer
	space int
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	n, _ := w.Buffer.Write(p[:min(len(p), w.space)])
	if w.space -= n; n < len(p) {
		return n, errors.New("no space left")
	}
	return n, nil
}

// TestFullDisk checks that a partly written line does not damage later ones.
func TestFullDisk(t *testing.T) {
	for _, together := range []bool{true, false} {
		w := &limitedWriter{space: 70}
		lost := 0
		log := newLogOf(w, "squid", func() { lost++ })
		for range 3 {
			log.Write(accesslog.Entry{Method: "GET", Target: "/urn:a:1"})
			if !together {
				log.Flush()
			}
		}
		log.Flush()
		w.space = 1000
		log.Write(accesslog.Entry{Method: "GET", Target: "/urn:a:2"})
		log.Close()
		lines := strings.Split(strings.TrimSpace(w.String()), "\n")
		if last := lines[len(lines)-1]; lost != 2 || !strings.Contains(last, " GET /urn:a:2 ") || strings.Contains(last,
			"urn:a:1") || strings.Contains(w.String(), "\n\n") {
			t.Errorf("together %t: %d lost of\n%s", together, lost, w.String())
		}
	}
}
