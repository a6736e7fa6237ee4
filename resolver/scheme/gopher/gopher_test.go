package gopher_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/gopher"
	"github.com/urnd/urnd/uri"
)

func TestRequestLine(t *testing.T) {
	for path, want := range map[string]string{
		"":                          "\r\n", // RFC 4266 section 2.1
		"/":                         "\r\n",
		"/1":                        "\r\n",
		"/00/Weather/Los%20Angeles": "0/Weather/Los Angeles\r\n",
		"/0a%2Fb%252F?c=%25":        "a/b%2F?c=%\r\n", // decoded once
		"/7find%09two%20words":      "find\ttwo words\r\n",
		"/1s%09%09":                 "s\r\n",
		"/1s%09%09+":                "s\t+\r\n",
		"/7s%09w%09+":               "s\tw\t+\r\n",
		"/0s%09%09!":                "s\t!\r\n",
		"/0s%09%09?":                "s\t!\r\n", // RFC 4266 section 2.5
		"/0s%09%09!+ABSTRACT":       "s\t!+ABSTRACT\r\n",
		"/1s%09%09$+VIEWS":          "s\t$+VIEWS\r\n",
		"/0s%09%09+application/postscript%20Es_ES": "s\t+application/postscript Es_ES\r\n", // RFC 4266 section 2.8
	} {
		p := respond(t, ".\r\n")
		resource, err := handler().Fetch(t.Context(), request(t, http.MethodGet, "gopher://"+p.addr+path))
		if err == nil {
			_ = resource.Body.Close()
		} else if !errors.Is(err, scheme.ErrInvalidResponse) { // the peer does not speak Gopher+
			t.Errorf("%s: %v", path, err)
		}
		if got := <-p.requested; got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestMalformed requires that no truncated request is sent, nor one with more fields than the protocol has: RFC
// 1738 section 6.
func TestMalformed(t *testing.T) {
	for _, path := range []string{
		"/0a%0D%0Ab", "/0a%0Ab", "/0a%00", "/7a%09b%0Ac", "/0a%09%09b", "/0a%09%09+%0D%0AQUIT", "/0a%09%09!%0A",
		"/0a%09%09$%00", "/0a%09%09+a%09b", "/0a%09b%09+%09", "/%0A", "/%0D%0AHELO",
		"/7a%09b%09%091%0D%0A+-1%0D%0AHELO%0D%0A.%0D%0A",
	} {
		p := respond(t, ".\r\n")
		var parse *uri.ParseError
		for name, h := range map[string]scheme.Handler{
			"handler": handler(),
			"gateway": scheme.Gateway{Handler: handler()},
		} {
			if _, err := h.Fetch(t.Context(), request(t, http.MethodGet, "gopher://"+p.addr+path)); !errors.As(err,
				&parse) {
				t.Errorf("%s of %s: %v", path, name, err)
			}
		}
		if n := p.count.Load(); n != 0 {
			t.Errorf("%s: %d connections", path, n)
		}
	}
}

// TestMailByGopher is the attack of RFC 1738 section 6: a gopher URL that sends mail.
func TestMailByGopher(t *testing.T) {
	smtp := respond(t, "220 mail.example.org ESMTP\r\n")
	_, port, _ := net.SplitHostPort(smtp.addr)
	dialled := 0
	counting := func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
		dialled++
		return dial(ctx, network, address, check)
	}
	gateway := scheme.Gateway{
		Handler: gopher.New(gopher.Config{Dial: counting, Limits: limits()}),
		Info: scheme.Info{Ports: scheme.Ports{Deny: func(p uint16) bool {
			return netip.AddrPortFrom(netip.IPv4Unspecified(), p) == netip.MustParseAddrPort("0.0.0.0:"+port)
		}}},
	}
	const mail = "HELO%20a%0d%0aMAIL%20FROM:%3ca@b%3e%0d%0aRCPT%20TO:%3cc@d%3e%0d%0aDATA%0d%0aspam%0d%0a.%0d%0aQUIT"
	const form = "HELO%09%09+%091%0d%0a+-1%0d%0aMAIL%20FROM:%3ca@b%3e%0d%0a.%0d%0a"
	for _, server := range []string{"127.0.0.1:25", smtp.addr} {
		for _, path := range []string{"/_" + mail, "/0" + mail, "/7%09" + mail} {
			var parse *uri.ParseError
			if _, err := gateway.Fetch(t.Context(),
				request(t, http.MethodGet, "gopher://"+server+path)); !errors.As(err, &parse) {
				t.Errorf("%s%s: %v", server, path, err)
			}
		}
		for _, path := range []string{"/_HELO%20a", "/_" + form, "/", "/1%09%09+" + mail} {
			if _, err := gateway.Fetch(t.Context(),
				request(t, http.MethodGet, "gopher://"+server+path)); !errors.Is(err, scheme.ErrPort) {
				t.Errorf("%s%s: %v", server, path, err)
			}
		}
	}
	if dialled != 0 || smtp.count.Load() != 0 {
		t.Errorf("%d connections", dialled)
	}
	// If the port is allowed, form data is still not sent, and a greeting is not a menu.
	open := "gopher://" + smtp.addr
	if status := refused(t, handler(), open+"/_"+form); status != http.StatusNotImplemented || smtp.count.Load() != 0 {
		t.Errorf("a form: %d", status)
	}
	if status := refused(t, handler(), open+"/"); status != http.StatusBadGateway {
		t.Errorf("a greeting: %d", status)
	}
}

// refused returns the status of a refusal, 0 for none.
func refused(t *testing.T, h scheme.Handler, url string) int {
	t.Helper()
	_, err := h.Fetch(t.Context(), request(t, http.MethodGet, url))
	var refusal *scheme.StatusError
	if !errors.As(err, &refusal) {
		t.Errorf("%s: %v", url, err)
		return 0
	}
	return refusal.Status
}

// TestWithoutServer requires that nothing is dialed for links to other protocols.
func TestWithoutServer(t *testing.T) {
	h := gopher.New(gopher.Config{Limits: limits()}) // a dial would panic
	for url, want := range map[string]string{
		"gopher://h/8login":                              "telnet://login@h/",
		"gopher://h:2323/8":                              "telnet://h:2323/",
		"gopher://[::1]:23/Ta%3Ab%40c":                   "tn3270://a%3Ab%40c@[::1]/",
		"gopher://h/hURL:http://example.org/a%3fb":       "http://example.org/a?b",
		"gopher://h/h/URL:https://example.org/":          "https://example.org/",
		"gopher://h/hURL:ftp://user:secret@example.org/": "ftp://user@example.org/",
		"gopher://h/hURL:gemini://h.example:1965/a":      "gemini://h.example/a",
		"gopher://h/hURL:urn:isbn:0-395-36341-1":         "urn:isbn:0-395-36341-1",
		"gopher://h/hURL:tn3270://h.example":             "tn3270://h.example/",
		"gopher://h/7find?search=two+words":              "gopher://h/7find%09two%20words",
		"gopher://h/7find%09?search=a%26b+%C3%A9":        "gopher://h/7find%09a%26b%20%C3%A9",
		"gopher://h/7find%09?search=":                    "gopher://h/7find",
		"gopher://h/7?search=a%09b":                      "gopher://h/7%09a%20b",
		"gopher://h/7?search=%2B%2F%3F":                  "gopher://h/7%09%2B/%3F",
	} {
		r := fetch(t, h, url)
		if got := r.Fields.Get("Location"); got != want || r.Status < 300 || r.Status > 303 {
			t.Errorf("%s: %d %s, want %s", url, r.Status, got, want)
		}
	}
	for _, url := range []string{
		"gopher://h/hURL:javascript:alert(1)", "gopher://h/hURL:file:///etc/passwd",
		"gopher://h/hURL:data:text/html,a",
	} {
		if _, err := h.Fetch(t.Context(), request(t, http.MethodGet, url)); !errors.Is(err, resolver.ErrForbidden) {
			t.Errorf("%s: %v", url, err)
		}
	}
	for url, want := range map[string]int{
		"gopher://h/2cso": http.StatusNotImplemented, "gopher://h/iinfo": http.StatusNotFound,
		"gopher://h/3error": http.StatusNotFound,
	} {
		if got := refused(t, h, url); got != want {
			t.Errorf("%s: %d", url, got)
		}
	}
	if _, err := h.Fetch(t.Context(),
		request(t, http.MethodGet, "gopher://h/hURL:http://u:secret@%5Ba/")); err == nil ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	l := fetch(t, h, "gopher://h/7find").Listing
	if l.Search == nil || l.Search.Prefix != "gopher://h/7find%09" || l.Search.Label == "" ||
		l.Parent.URI != "gopher://h/1" {
		t.Errorf("%+v", l)
	}
}

func TestSearch(t *testing.T) {
	p := respond(t, "0A result\t/r\t127.0.0.1\t7070\r\n.\r\n")
	l := fetch(t, handler(), "gopher://"+p.addr+"/7find%09caf%C3%A9%20au%20lait").Listing
	if l.Kind != scheme.KindResults || l.Title != "café au lait" || len(l.Items) != 1 ||
		l.Search.Prefix != "gopher://"+p.addr+"/7find%09" {
		t.Errorf("%+v", l)
	}
	if got := <-p.requested; got != "find\tcafé au lait\r\n" {
		t.Errorf("%q", got)
	}
	for url, want := range map[string]string{ // as Lynx requests them from a proxy
		"7/q?two+words":   "/q\ttwo words\r\n",
		"7find?a%26b=c&d": "find\ta&b=c&d\r\n",
		"7find%3Fa?+":     "find?a",
		"7find%09a?b":     "find\ta?b\r\n",
	} {
		p := respond(t, "0A result\t/r\t127.0.0.1\t7070\r\n.\r\n")
		l := fetch(t, handler(), "gopher://"+p.addr+"/"+url).Listing
		if want == "find?a" { // no words
			if l.Kind != scheme.KindMenu || l.Search == nil || !strings.HasSuffix(l.Search.Prefix, "7find%3Fa%09") {
				t.Errorf("%s: %+v", url, l)
			}
			continue
		}
		if got := <-p.requested; got != want {
			t.Errorf("%s: %q", url, got)
		}
	}
	p = respond(t, "No results\r\n.\r\n") // a line without fields
	if l := fetch(t, handler(), "gopher://"+p.addr+"/7find%09a").Listing; len(l.Items) != 1 ||
		l.Items[0].Kind != scheme.ItemInfo {
		t.Errorf("%+v", l)
	}
}

func TestErrorLine(t *testing.T) {
	for answer, refused := range map[string]bool{
		"3No such file\t\terror.host\t1\r\n":           true,
		"3No such file\t\terror.host\t1\r\n.\r\n":      true,
		"3No such file\tfake\t(NULL)\t0":               true,
		"3 apples\r\n":                                 false,
		"3a\tb\tc\td\r\nand more\r\n":                  false,
		"3a\tb\tc\td" + strings.Repeat("x", 5000) + "": false,
		"": false,
	} {
		for _, kind := range []string{"0", "9", "I"} {
			p := respond(t, answer)
			r, err := handler().Fetch(t.Context(), request(t, http.MethodGet, "gopher://"+p.addr+"/"+kind+"a"))
			var refusal *scheme.StatusError
			if got := errors.As(err, &refusal) && refusal.Status == http.StatusNotFound &&
				refusal.Reply == "No such file"; got != refused {
				t.Errorf("%.30q: %v", answer, err)
			}
			if err == nil {
				if got := read(t, r); got != answer {
					t.Errorf("%.30q: %.30q", answer, got)
				}
			}
		}
	}
	p := respond(t, "3Not here\t\terror.host\t1\r\niSorry\t\t\t\r\n.\r\n")
	if status := refused(t, handler(), "gopher://"+p.addr+"/"); status != http.StatusNotFound {
		t.Errorf("%d", status)
	}
}

// TestReset requires that a reset is never taken for the end of a document.
func TestReset(t *testing.T) {
	for _, path := range []string{"/0a", "/9a", "/1a", "/7a%09b", "/0a%09%09+", "/0a%09%09!"} {
		p := serve(t, func(conn *net.TCPConn, line string) {
			if strings.Contains(line, "\t+") || strings.Contains(line, "\t!") {
				_, _ = io.WriteString(conn, "+-2\r\n")
			}
			_, _ = io.WriteString(conn, "i"+strings.Repeat("text\t\t\t\r\n", 200))
			_ = conn.SetLinger(0)
		})
		r, err := handler().Fetch(t.Context(), request(t, http.MethodGet, "gopher://"+p.addr+path))
		if err == nil {
			_, err = io.ReadAll(r.Body)
		}
		if !errors.Is(err, resolver.ErrUnreachable) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestSilence(t *testing.T) {
	release := make(chan struct{})
	silent := func(first string) string {
		return serve(t, func(conn *net.TCPConn, line string) {
			if strings.HasPrefix(line, "late") {
				_, _ = io.WriteString(conn, first+strings.Repeat("text of a line\r\n", 600))
			}
			<-release
		}).addr
	}
	short := limits()
	short.Timeout = 50 * time.Millisecond
	h := gopher.New(gopher.Config{Dial: dial, Limits: short})
	for _, path := range []string{
		"/0a", "/9a", "/1a", "/7a%09b", "/0a%09%09+", "/0a%09%09!", "/1late", "/0late",
		"/9late",
	} {
		r, err := h.Fetch(t.Context(), request(t, http.MethodGet, "gopher://"+silent("")+path))
		if err == nil {
			_, err = io.ReadAll(r.Body)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", path, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := handler().Fetch(ctx, request(t, http.MethodGet, "gopher://"+silent("")+"/9late"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(r.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(release)
}

// TestOpenAfterDot has a server that leaves the connection open after the terminator: the document ends anyway.
func TestOpenAfterDot(t *testing.T) {
	release := make(chan struct{})
	p := serve(t, func(conn *net.TCPConn, _ string) {
		_, _ = io.WriteString(conn, "text\r\n.\r\n")
		<-release
	})
	testserver.Within(t, "a text with its dot", func() {
		if got := read(t, fetch(t, handler(), "gopher://"+p.addr+"/0a")); got != "text\r\n" {
			t.Errorf("%q", got)
		}
	})
	close(release)
}

func TestHead(t *testing.T) {
	p := respond(t, strings.Repeat("text\r\n", 10000))
	r, err := handler().Fetch(t.Context(), request(t, http.MethodHead, "gopher://"+p.addr+"/0a"))
	if err != nil || r.Fields.Get("Content-Type") != "text/plain" || r.ContentLength != -1 || read(t, r) != "" {
		t.Errorf("%+v, %v", r, err)
	}
	p = respond(t, "+4\r\ntextmore")
	r, err = handler().Fetch(t.Context(), request(t, http.MethodHead, "gopher://"+p.addr+"/0a%09%09+"))
	if err != nil || r.ContentLength != 4 || read(t, r) != "" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestPrivate(t *testing.T) {
	p := respond(t, "text")
	q := request(t, http.MethodGet, "gopher://"+p.addr+"/0a")
	q.Fields.Set("Authorization", "Basic YTpi")
	r, err := handler().Fetch(t.Context(), q)
	if err != nil || r.Fields.Get("Cache-Control") != "no-store" {
		t.Fatalf("%+v, %v", r, err)
	}
	_ = r.Body.Close()
	if got := <-p.requested; got != "a\r\n" {
		t.Errorf("%q", got)
	}
}

func TestContentType(t *testing.T) {
	long := strings.Repeat("é", 400) // the head ends within a character if a byte is prepended
	for _, c := range []struct{ path, body, want string }{
		{"/0a", "text", "text/plain; charset=utf-8"},
		{"/0a.html", "<script>", "text/plain; charset=utf-8"},
		{"/0a", "caf\xe9", "text/plain; charset=windows-1252"},
		{"/0a", "x" + long, "text/plain; charset=utf-8"},
		{"/0a", long, "text/plain; charset=utf-8"},
		{"/0a", "\x89PNG\r\n\x1a\n\x00\x00", "image/png"},
		{"/4a", "(This file must be converted with BinHex 4.0)", "application/mac-binhex40"},
		{"/5a.zip", "PK\x03\x04", "application/zip"},
		{"/6a", "begin 644 a\r\n", "text/plain; charset=utf-8"},
		{"/ha", "<p>", "text/html; charset=utf-8"},
		{"/ga", "GIF89a", "image/gif"},
		{"/Ia.gif", "\xff\xd8\xff\xe0", "image/jpeg"},
		{"/pa", "\x89PNG\r\n\x1a\n", "image/png"},
		{"/da", "%PDF-1.4", "application/pdf"},
		{"/sa.au", "x", "audio/basic"},
		{"/%3Ba.mpg", "\x00", "video/mpeg"},
		{"/9a", "<html>", "text/plain; charset=utf-8"},
		{"/Xa", "\x00", "application/octet-stream"},
		{"/0a%09%09+application/postscript%20Es_ES", "+-2\r\n%!PS", "application/postscript"},
		{"/0a%09%09+text/html", "+-2\r\n<script>", "text/plain; charset=utf-8"},
		{"/0a%09%09+image/svg+xml", "+-2\r\n<svg>", "text/plain; charset=utf-8"},
		{"/0a%09%09+application/postscript", "not Gopher+", "text/plain; charset=utf-8"},
	} {
		p := respond(t, c.body)
		if got := fetch(t, handler(), "gopher://"+p.addr+c.path).Fields.Get("Content-Type"); got != c.want {
			t.Errorf("%s %.20q: %s, want %s", c.path, c.body, got, c.want)
		}
	}
	p := respond(t, "+-2\r\nHola")
	if got := fetch(t, handler(),
		"gopher://"+p.addr+"/0a%09%09+text/plain%20Es_ES").Fields.Get("Content-Language"); got != "Es-ES" {
		t.Errorf("%q", got)
	}
}
