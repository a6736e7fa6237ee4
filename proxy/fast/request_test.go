package fast

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"
)

func TestParse(t *testing.T) {
	const head = "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: urn.example\r\n"
	const notNeutral = "not neutral"
	for _, tt := range []struct {
		name, text string
		want       Reason
	}{
		{"plain", head + "\r\n", ""},
		{"HEAD", "HEAD urn:ietf:rfc:2648 HTTP/1.1\r\nhost:\t \r\n", Field},
		{"fields", head + "User-Agent: a b (c; d)\r\nACCEPT:*/*  \r\nconnection: Keep-Alive\r\n\r\n", ""},
		{"two requests", head + "\r\nPOST", ""},
		{"not all of it", head, Partial},
		{"not all of its end", head + "\r", Partial},
		{"not all of a field", head + "User-Ag", Partial},
		{"not all of a value", head + "User-Agent: a", Partial},
		{"not all of a line end", head + "User-Agent: a\r", Partial},
		{"not all of the method", "HE", Partial},
		{"not all of the target", "GET /urn", Partial},
		{"not all of the version", "GET /urn HTTP/1.1", Partial},
		{"nothing", "", Partial},
		{"another method", "OPTIONS / HTTP/1.1\r\nHost: a\r\n\r\n", Method},
		{"POST", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n", notNeutral},
		{"PUT", "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", notNeutral},
		{"PATCH", "PATCH / HTTP/1.1\r\nHost: a\r\ncontent-length:1 \r\n\r\n", notNeutral},
		{"DELETE", "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n", notNeutral},
		{"two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", Method},
		{"two lengths in one", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\n", Method},
		{"a signed length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\n", Method},
		{"a negative length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n", Method},
		{"a length with a zero before it", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 05\r\n\r\n", Method},
		{"a length in hexadecimal", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\n", Method},
		{"no length in its field", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n", Method},
		{"a length of 16 digits", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1234567890123456\r\n\r\n", Method},
		{"a length and a coding", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", Method},
		{"chunked", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", Method},
		{"a body that waits", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n", Method},
		{"trailers", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTrailer: x\r\n\r\n", Method},
		{"an upgrade", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nUpgrade: h2c\r\n\r\n", Method},
		{"a word that begins like POST", "POSTS / HTTP/1.1\r\nHost: a\r\n\r\n", Method},
		{"in lower case", "get / HTTP/1.1\r\nHost: a\r\n\r\n", Method},
		{"an empty line before it", "\r\n" + head + "\r\n", Method},
		{"HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\n\r\n", Target},
		{"HTTP/0.9", "GET /\r\n", Target},
		{"two spaces", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", Target},
		{"a tab", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", Method},
		{"a fragment", "GET /urn:a:b#c HTTP/1.1\r\nHost: a\r\n\r\n", Target},
		{"no hexadecimal digits", "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", Target},
		{"half of an encoding", "GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n", Target},
		{"an octet above ASCII", "GET /\xe4 HTTP/1.1\r\nHost: a\r\n\r\n", Target},
		{"a bare LF", "GET / HTTP/1.1\nHost: a\n\n", Target},
		{"a bare LF behind a field", head + "Accept: a\nAccept-Language: b\r\n\r\n", Field},
		{"a bare CR", head + "Accept: a\rb\r\n\r\n", Field},
		{"a folded line", head + "Accept: a\r\n b\r\n\r\n", Field},
		{"a space before the colon", head + "Accept : a\r\n\r\n", Field},
		{"no name", head + ": a\r\n\r\n", Field},
		{"NUL", head + "Accept: a\x00\r\n\r\n", Field},
		{"no Host", "GET / HTTP/1.1\r\nAccept: a\r\n\r\n", Field},
		{"two Hosts", head + "Host: urn.example\r\n\r\n", Field},
		{"an odd Host", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", Field},
		{"a field twice", head + "Accept: a\r\nAccept: b\r\n\r\n", Field},
		{"Connection: close", head + "Connection: close\r\n\r\n", notNeutral},
		{"Content-Length", head + "Content-Length: 0\r\n\r\n", Field},
		{"Transfer-Encoding", head + "Transfer-Encoding: chunked\r\n\r\n", Field},
		{"Expect", head + "Expect: 100-continue\r\n\r\n", Field},
		{"Upgrade", head + "Upgrade: websocket\r\n\r\n", Field},
		{"Authorization", head + "Authorization: Basic YTpi\r\n\r\n", notNeutral},
		{"Range", head + "Range: bytes=0-1\r\n\r\n", ""},
		{"Cache-Control", head + "Cache-Control: no-cache\r\n\r\n", notNeutral},
		{"X-Forwarded-For", head + "X-Forwarded-For: 192.0.2.1\r\n\r\n", ""},
		{"X-Forwarded-For twice", head + "X-Forwarded-For: 192.0.2.1\r\nx-forwarded-for: 192.0.2.1\r\n\r\n", Field},
		{"X-Forwarded-User", head + "X-Forwarded-User: a\r\n\r\n", notNeutral},
		{"a field that nobody knows", head + "x-odd: a\r\n\r\n", notNeutral},
		{"such a field twice", head + "X-Odd: a\r\nx-odd: b\r\n\r\n", Field},
		{"an underscore", head + "X_Odd: a\r\n\r\n", Field},
		{"TE", head + "TE: trailers\r\n\r\n", Field},
		{"two options of Connection", head + "Connection: keep-alive, TE\r\n\r\n", Field},
		{"Connection twice", head + "Connection: close\r\nConnection: keep-alive\r\n\r\n", Field},
		{"many fields", head + strings.Repeat("Accept: a\r\n", 1) + strings.Repeat("X-A: b\r\n", 40) + "\r\n", Field},
	} {
		var r Request
		got := r.Parse([]byte(tt.text))
		if got == "" && !r.IsNeutral {
			got = notNeutral
		}
		if got != tt.want {
			t.Errorf("%s: %q instead of %q", tt.name, got, tt.want)
		}
	}
}

func TestRequest(t *testing.T) {
	const text = "HEAD /urn:a:b HTTP/1.1\r\nhost:  a.example:80 \r\nReferer: http://b/ \r\naccept:\r\n\r\n"
	var r Request
	if reason := r.Parse([]byte(text + "GET")); reason != "" {
		t.Fatal(reason)
	}
	if !r.IsHead() || r.Target != "/urn:a:b" || r.Host != "a.example:80" || r.Size != len(text) || r.Value("Referer") != "http://b/" {
		t.Errorf("%+v", r)
	}
	if !r.Has("Accept") || r.Has("Cookie") || len(r.Lines("Accept")) != 1 || r.Lines("Cookie") != nil || r.Lines("Referer")[0] != "http://b/" {
		t.Errorf("fields of %+v", r)
	}
	octets := []byte("GET /urn:a:b HTTP/1.1\r\nHost: a\r\nUser-Agent: b\r\nAccept: */*\r\n\r\n")
	if n := testing.AllocsPerRun(100, func() { r.Parse(octets) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRequestIsForwardedOrRanged(t *testing.T) {
	var r Request
	for _, tt := range []struct {
		field               string
		isForwarded, ranged bool
	}{
		{"Accept", false, false},
		{"X-Odd", false, false},
		{"Range", false, true},
		{"if-range", false, true},
		{"X-Forwarded-For", true, false},
		{"x-forwarded-proto", true, false},
		{"X-Forwarded-Host", true, false},
		{"X-Forwarded-Port", true, false},
		{"X-Forwarded-Server", true, false},
		{"forwarded", true, false},
		{"X-Real-IP", true, false},
		{"Via", true, false},
	} {
		reason := r.Parse([]byte("GET / HTTP/1.1\r\nHost: a\r\n" + tt.field + ": b\r\n\r\n"))
		if reason != "" || r.IsForwarded != tt.isForwarded || r.IsRanged != tt.ranged || r.IsNeutral != (tt.field != "X-Odd") {
			t.Errorf("%s: %q %+v", tt.field, reason, r)
		}
	}
}

// What is plain is the same request to net/http, and it takes it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: a\r\n\r\n",
		"HEAD http://a.example/?b=%20c HTTP/1.1\r\nHost: b:80\r\nUser-Agent: c d\r\nCookie: e=f\r\n\r\nGET",
		"GET urn:a:b HTTP/1.1\r\nhost:[::1]\r\naccept-language:  de,en;q=0.5 \r\nConnection:keep-alive\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: b\r\nrange: bytes=0-1\r\npragma: no-cache\r\nConnection: close\r\n\r\n",
		"GET //a:b@c/%2e/../d;e?f HTTP/1.1\r\nHost: -\r\nIf-None-Match: \"a\", W/\"b\"\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Add([]byte("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Type: text/plain\r\n\r\nabc"))
	f.Fuzz(func(t *testing.T, octets []byte) {
		var r Request
		if r.Parse(octets) != "" {
			return
		}
		if r.Size > len(octets) || !bytes.HasSuffix(octets[:r.Size], []byte("\r\n\r\n")) {
			t.Fatalf("%d octets of %q", r.Size, octets)
		}
		rest := bytes.NewReader(octets[:r.Size])
		want, err := http.ReadRequest(bufio.NewReader(rest))
		if err != nil && !isOfAuthority(r.Target) {
			t.Fatalf("net/http does not read %q: %v", octets[:r.Size], err)
		}
		if err != nil {
			return
		}
		if want.Method != r.Method || want.RequestURI != r.Target || want.ContentLength != r.Length || len(want.TransferEncoding) > 0 || want.Close != r.Closes || rest.Len() > 0 {
			t.Fatalf("%q is %+v to net/http", octets[:r.Size], want)
		}
		if want.URL.Host == "" && want.Host != r.Host || !httpguts.ValidHostHeader(r.Host) {
			t.Fatalf("the host of %q is %q to net/http", octets[:r.Size], want.Host)
		}
		for name, lines := range want.Header {
			if name == "Cache-Control" && r.Has("Pragma") { // net/http makes one
				continue
			}
			if len(lines) != 1 || r.Value(name) != lines[0] && name != "Connection" {
				t.Fatalf("%s of %q is %q to net/http", name, octets[:r.Size], lines)
			}
		}
	})
}

// isOfAuthority reports whether net/http may refuse a target for its authority, which the handler looks at.
func isOfAuthority(target string) bool {
	_, rest, ok := strings.Cut(target, "://")
	if rest, _, _ = strings.Cut(rest, "/"); ok {
		rest, _, _ = strings.Cut(rest, "?")
		return !IsServer(rest)
	}
	return target[0] != '/' || strings.HasPrefix(target, "//")
}
