package accesslog_test

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/internal/testserver"
)

// hardText contains characters that formats escape and that HTTP servers accept in a field. It has no tabs,
// because urnd percent-encodes them where some encodings of Squid do not.
const hardText = "a \"b\" \\c [d] %e #f <g>h~i|j'k`{l}^;&?m\xc3\xbc"

// logOfPeer returns the line that a server logs for a request with hardText as User-Agent and Referer.
func logOfPeer(t *testing.T, address, target, file string) string {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn,
		"GET %s HTTP/1.1\r\nHost: a.example\r\nUser-Agent: %s\r\nReferer: %[2]s\r\nConnection: close\r\n\r\n",
		target, hardText)
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Fatal(err)
	}
	line := ""
	testserver.Wait(t, "the request is logged", func() bool {
		text, _ := os.ReadFile(file)
		found := false
		for one := range strings.Lines(string(text)) { // Squid also logs the connection that probed its start
			if strings.Contains(one, "GET") {
				line, found = strings.CutSuffix(one, "\n")
			}
		}
		return found
	})
	return line
}

// TestApacheEncodings compares the encodings with Apache itself.
func TestApacheEncodings(t *testing.T) {
	t.Parallel()
	const format = `%h %l %u "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %m %U%q %H`
	dir := testserver.OpenFolder(t)
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	web := testserver.StartApache(t, dir,
		fmt.Sprintf("LogFormat %q hard\nCustomLog web/hard.log hard env=!ready", format))
	want := logOfPeer(t, web.Addr(), "/a.txt?b=%22", filepath.Join(dir, "web/hard.log"))
	e := forwarded()
	e.Client, e.User, e.Target, e.Bytes, e.Referer, e.UserAgent = netip.MustParseAddr("127.0.0.1"), "", "/a.txt?b=%22",
		5, hardText, hardText
	if got := line(t, "apache:"+format, e); got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
}

// TestSquidEncodings compares the encodings with Squid itself.
func TestSquidEncodings(t *testing.T) {
	t.Parallel()
	const format = `%>a %un %rm %ru %03>Hs %mt %{User-Agent}>h %"{User-Agent}>h %[{User-Agent}>h %#{User-Agent}>h %/{User-Agent}>h ` +
		`%'{User-Agent}>h "%{User-Agent}>h" [%{User-Agent}>h] %Ss %Sh %-8rm|%8rm|%.2rm`
	dir := testserver.OpenFolder(t)
	squid := testserver.StartSquid(t, dir, "logformat hard "+format, "access_log stdio:"+dir+"/log/hard.log hard",
		"http_access deny all",
		"strip_query_terms off")
	want := logOfPeer(t, squid.Addr(), "http://a.example/b?c=%22&d=[e]", filepath.Join(dir, "log/hard.log"))
	e := accesslog.Entry{
		Client: netip.MustParseAddr("127.0.0.1"), Method: "GET", Target: "http://a.example/b?c=%22&d=[e]",
		Proto: "HTTP/1.1", Status: 403, Refused: true, Denied: true, UserAgent: hardText,
		Type: "text/html;charset=utf-8",
	}
	if got := line(t, "squid:"+format, e); got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
}
