package http_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// TestResponses requires that the response of an origin is returned unchanged.
func TestResponses(t *testing.T) {
	for _, tt := range []struct {
		section, method, response string
		status                    int
		reason, body              string
		length                    int64
		header                    httpmessage.Fields
		reused                    bool
	}{
		{
			"RFC 9112 section 4", "GET", "HTTP/1.1 599 Whatever you say\r\nContent-Length: 2\r\n\r\nok", 599,
			"Whatever you say", "ok", 2, httpmessage.NewFields("Content-Length", "2"), true,
		},
		{
			"RFC 9112 section 4: no words", "GET", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", 200, "", "", 0,
			httpmessage.NewFields("Content-Length", "0"), true,
		},
		{
			"RFC 9112 section 4: no space", "GET", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, "", "", 0,
			httpmessage.NewFields("Content-Length", "0"), true,
		},
		{
			"RFC 9110 section 15", "GET", "HTTP/1.1 999 \xe9\r\nContent-Length: 0\r\n\r\n", 999, "\xe9", "", 0,
			httpmessage.NewFields("Content-Length", "0"), true,
		},
		{
			"RFC 9112 section 2.2: LF", "GET", "HTTP/1.1 200 OK\nA: b\nContent-Length: 2\n\nok", 200, "OK", "ok", 2,
			httpmessage.NewFields("A", "b",
				"Content-Length", "2"), true,
		},
		{
			"RFC 9111 section 5.4", "GET", "HTTP/1.1 200 OK\r\nPragma: no-cache\r\nContent-Length: 0\r\n\r\n", 200, "OK",
			"", 0, httpmessage.NewFields("Pragma",
				"no-cache", "Content-Length", "0"), true,
		},
		{
			"RFC 9112 section 5.2", "GET", "HTTP/1.1 200 OK\r\nA: b\r\n  c\r\n\td\r\nContent-Length: 0\r\n\r\n", 200, "OK",
			"", 0, httpmessage.NewFields("A",
				"b c d", "Content-Length", "0"), true,
		},
		{
			"RFC 9110 section 5.3", "GET", "HTTP/1.1 200 OK\r\nA:1\r\nb: \t\r\na: \t2 \r\nContent-Length: 0\r\n\r\n",
			200, "OK", "", 0, httpmessage.NewFields("A", "1", "b", "", "a", "2", "Content-Length", "0"), true,
		},
		{
			"RFC 9112 section 6.3: repeated", "GET",
			"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 02, 2\r\n\r\nok", 200, "OK", "ok", 2,
			httpmessage.NewFields("Content-Length", "2"), true,
		},
		{
			"RFC 9112 section 6.3: until close", "GET", "HTTP/1.1 200 OK\r\n\r\nok", 200, "OK", "ok", -1,
			httpmessage.Fields{},
			false,
		},
		{
			"RFC 9112 section 7.1", "GET",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1;a=b\r\no\r\n01\r\nk\r\n0\r\n\r\n", 200, "OK", "ok",
			-1,
			httpmessage.Fields{},
			true,
		},
		{
			"RFC 9112 section 9.3: HTTP/1.0", "GET", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "OK", "ok",
			2, httpmessage.NewFields("Content-Length", "2"), false,
		},
		{
			"RFC 9112 section 9.6", "GET", "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok", 200,
			"OK", "ok", 2, httpmessage.NewFields("Connection", "Close", "Content-Length", "2"), false,
		},
		{
			"RFC 9110 section 9.3.2", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 200, "OK", "", 5,
			httpmessage.NewFields("Content-Length", "5"), true,
		},
		{
			"RFC 9112 section 6.1: HEAD", "HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 200, "OK", "",
			-1,
			httpmessage.Fields{},
			true,
		},
		{
			"RFC 9110 section 15.3.5", "GET", "HTTP/1.1 204 No Content\r\n\r\n", 204, "No Content", "", 0,
			httpmessage.Fields{},
			true,
		},
		{
			"RFC 9110 section 15.4.5", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304,
			"Not Modified", "", 0, httpmessage.NewFields("Content-Length", "9"), true,
		},
		{
			"RFC 9112 section 11.1: bytes after the end", "GET",
			"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n", 200, "OK", "ok", 2,
			httpmessage.NewFields("Content-Length", "2"), false,
		},
		{
			"RFC 9112 section 11.1: bytes after none", "HEAD", "HTTP/1.1 200 OK\r\n\r\nbody", 200, "OK", "", -1,
			httpmessage.Fields{},
			false,
		},
	} {
		t.Run(tt.section, func(t *testing.T) {
			serving := always(tt.response)
			if !tt.reused {
				serving = once(tt.response)
			}
			o := serve(t, serving)
			h := newHandler(t, nil)
			for range 2 {
				r, text := fetch(t, h,
					scheme.Request{Request: httpmessage.Request{
						Method: tt.method,
						URI:    parse(t, "http://"+o.addr+"/"),
					}})
				if r.Status != tt.status || r.Reason != tt.reason || text != tt.body || r.ContentLength != tt.length ||
					!slices.Equal(r.Fields, tt.header) {
					t.Errorf("%d %q %v %q of %d", r.Status, r.Reason, r.Fields, text, r.ContentLength)
				}
				if r.RemoteAddr.String() != o.addr {
					t.Errorf("from %s", r.RemoteAddr)
				}
			}
			if got := o.connections() == 1; got != tt.reused {
				t.Errorf("%d connections", o.connections())
			}
		})
	}
}

// TestInvalidResponses requires an error for a malformed or ambiguous response.
func TestInvalidResponses(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for section, response := range map[string]string{
		"HTTP/0.9":                               "<html></html>\r\n\r\n",
		"RFC 9112 section 2.3: another protocol": "ICY 200 OK\r\n\r\n",
		"RFC 9112 section 2.3: version":          "HTTP/2.0 200 OK\r\n\r\n",
		"RFC 9112 section 2.3: minor version":    "HTTP/1.10 200 OK\r\n\r\n",
		"RFC 9112 section 4: letters":            "HTTP/1.1 2x0 OK\r\n\r\n",
		"RFC 9112 section 4: two digits":         "HTTP/1.1 99 OK\r\n\r\n",
		"RFC 9112 section 4: four digits":        "HTTP/1.1 2000 OK\r\n\r\n",
		"RFC 9112 section 4: sign":               "HTTP/1.1 +20 OK\r\n\r\n",
		"RFC 9112 section 4: words":              "HTTP/1.1 200 O\rK\r\n\r\n",
		"RFC 9112 section 5.1: space in a name":  ok + "A B : c\r\n\r\n",
		"RFC 9112 section 5.1: both lengths": ok +
			"Content-Length : 5\r\nTransfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
		"RFC 9112 section 5: no colon":              ok + "A\r\n\r\n",
		"RFC 9112 section 5: no name":               ok + ": a\r\n\r\n",
		"RFC 9112 section 5.2: nothing to continue": ok + " a: b\r\n\r\n",
		"RFC 9110 section 5.5: CR":                  ok + "A: b\rc\r\n\r\n",
		"RFC 9110 section 5.5: NUL":                 ok + "A: b\x00\r\n\r\n",
		"RFC 9112 section 6.1: other coding":        ok + "Transfer-Encoding: gzip, chunked\r\n\r\n",
		"RFC 9112 section 6.1: not chunked":         ok + "Transfer-Encoding: gzip\r\n\r\n",
		"RFC 9112 section 6.1: twice": ok +
			"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"RFC 9112 section 6.1: HTTP/1.0":        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"RFC 9112 section 6.3: two lengths":     ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"RFC 9112 section 6.3: list of lengths": ok + "Content-Length: 1, 2\r\n\r\nab",
		"RFC 9112 section 6.3: no number":       ok + "Content-Length: 1a\r\n\r\nab",
		"RFC 9112 section 6.3: empty":           ok + "Content-Length:\r\n\r\n",
		"RFC 9112 section 6.3: sign":            ok + "Content-Length: +1\r\n\r\na",
		"RFC 9112 section 6.3: too many digits": ok + "Content-Length: 9223372036854775808\r\n\r\na",
		"RFC 9112 section 6.3: length and chunked": ok +
			"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"RFC 9110 section 15.2.2: unasked": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: " +
			"a\r\nConnection: Upgrade\r\n\r\n",
		"RFC 9110 section 5.4: size": ok + strings.Repeat("A: "+strings.Repeat("b", 1000)+"\r\n", 300) +
			"\r\n",
		"RFC 9110 section 5.4: one line": ok + "A: " + strings.Repeat("b", 300_000) + "\r\n\r\n",
		"RFC 9110 section 15.2: interim without end": strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 17) + ok +
			"\r\n",
	} {
		o := serve(t, once(response))
		_, err := get(t, newHandler(t, nil), "http://"+o.addr+"/")
		if !errors.Is(err, scheme.ErrInvalidResponse) || !errors.Is(err, resolver.ErrUnreachable) ||
			o.connections() != 1 {
			t.Errorf("%s: %v, %d connections", section, err, o.connections())
		}
	}
}

// TestSpaceBeforeColon requires that space between a field name and its colon is removed from responses and
// trailers: RFC 9112 section 5.1.
func TestSpaceBeforeColon(t *testing.T) {
	o := serve(t,
		once("HTTP/1.1 200 OK\r\nX-A : 1\r\nX-A\t : 2\r\nTransfer-Encoding : chunked\r\n\r\n4\r\nbody\r\n0\r\nX-T : "+
			"3\r\n\r\n"))
	r, text := fetch(t, newHandler(t, nil),
		scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, "http://"+o.addr+"/")}})
	if want := httpmessage.NewFields("X-A", "1", "X-A", "2"); text != "body" || !slices.Equal(r.Fields, want) ||
		r.Trailer.Fields.Get("X-T") != "3" {
		t.Errorf("%q, %v, %v", text, r.Fields, r.Trailer)
	}
}

// TestBodiesThatEndEarly requires that a truncated body never ends with io.EOF.
func TestBodiesThatEndEarly(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for section, tt := range map[string]struct {
		response string
		want     error
	}{
		"RFC 9112 section 8: length": {ok + "Content-Length: 5\r\n\r\nbody", io.ErrUnexpectedEOF},
		"RFC 9112 section 8: chunk":  {ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nbody", io.ErrUnexpectedEOF},
		"RFC 9112 section 8: chunks": {
			ok + "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n",
			io.ErrUnexpectedEOF,
		},
		"RFC 9112 section 8: last chunk": {
			ok + "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n",
			io.ErrUnexpectedEOF,
		},
		"RFC 9112 section 7.1: size": {
			ok + "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\nx\r\n",
			scheme.ErrInvalidResponse,
		},
		"RFC 9112 section 7.1: no CRLF": {
			ok + "Transfer-Encoding: chunked\r\n\r\n4\r\nbodyx\r\n",
			scheme.ErrInvalidResponse,
		},
		"RFC 9112 section 7.1.2: trailers": {
			ok + "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nA b: c\r\n\r\n",
			scheme.ErrInvalidResponse,
		},
	} {
		o := serve(t, once(tt.response))
		r, err := get(t, newHandler(t, nil), "http://"+o.addr+"/")
		if err != nil {
			t.Fatal(section, err)
		}
		if text, err := body(r); text != "body" || !errors.Is(err, tt.want) {
			t.Errorf("%s: %q, %v", section, text, err)
		}
		if _, err := r.Body.Read(make([]byte, 1)); !errors.Is(err, tt.want) {
			t.Errorf("%s, once more: %v", section, err)
		}
	}
}

// TestTrailersOfResponses requires that trailers are complete at the end, without framing fields: RFC 9110
// section 6.5.
func TestTrailersOfResponses(t *testing.T) {
	o := serve(t,
		always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: a-b, C\r\n\r\n2\r\nok\r\n0\r\nA-B: "+
			"1\r\nContent-Length: 7\r\nD: 2\r\nd: 3\r\n\r\n"))
	h := newHandler(t, nil)
	for range 2 {
		r, err := get(t, h, "http://"+o.addr+"/")
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Trailer.Names; fmt.Sprint(got) != "[A-B C]" {
			t.Errorf("announced: %v", got)
		}
		text, err := body(r)
		if want := httpmessage.NewFields("A-B", "1", "D", "2", "d", "3"); err != nil || text != "ok" ||
			!slices.Equal(r.Trailer.Fields, want) {
			t.Errorf("%q, %v, %v", text, r.Trailer, err)
		}
	}
	if o.connections() != 1 {
		t.Errorf("%d connections", o.connections())
	}
}

// interims records interim responses as texts.
type interims []string

func (i *interims) Interim(status int, fields httpmessage.Fields) {
	*i = append(*i, fmt.Sprint(status, fields))
}

// TestInterimResponses requires that interim responses except 100 are forwarded: RFC 9110 section 15.2.
func TestInterimResponses(t *testing.T) {
	const interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
	o := serve(t, once(interim+strings.Repeat("HTTP/1.1 199 \r\n\r\n", 14)+"HTTP/1.1 200 OK\r\n\r\nok"))
	var got interims
	_, text := fetch(t, newHandler(t, nil), scheme.Request{
		Request: httpmessage.Request{Method: "GET", URI: parse(t, "http://"+o.addr+"/")},
		Interim: &got,
	})
	if text != "ok" || len(got) != 15 || got[0] != "103 [{Link </a>}]" {
		t.Errorf("%q after %v", text, got)
	}
}
