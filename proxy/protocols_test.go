package proxy_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
)

// unreached is a Handler that must not be called.
type unreached struct{ t *testing.T }

func (u unreached) Begin(in *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
	u.t.Errorf("%s %s reached the handler", in.Method, in.Target)
	w.WriteHeader(http.StatusInternalServerError, "", nil)
	return nil
}

// A request that is rejected before the handler is counted, and gets a problem document, by HTTP/1 and by HTTP/2.
func TestServerRefuses(t *testing.T) {
	var refused atomic.Int64
	e := newEngine(unreached{t}, certificate(t), nil)
	e.protocols.Rejected = func(int) { refused.Add(1) }
	addr, _ := e.serve(t)
	dial := func(protocol string) net.Conn {
		t.Helper()
		conn, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(testserver.Timeout))
		return conn
	}

	text := newConn(dial("http/1.1")).ask(t, "GET /urn:example:a HTTP/1.1\r\nHost: a\r\nX: a\x00\r\n\r\n")
	if text.StatusCode != http.StatusBadRequest {
		t.Fatalf("%v", text)
	}
	conn := dial("h2")
	status, contentType := refusedStream(t, conn)
	if status != "400" || contentType != text.Header.Get("Content-Type") {
		t.Errorf("%s %s, want that of HTTP/1: %v", status, contentType, text)
	}
	if n := refused.Load(); n != 2 {
		t.Errorf("%d requests were counted", n)
	}
}

// refusedStream sends a request with a field that is forbidden in HTTP/2 (RFC 9113 section 8.2.2), and
// returns the status and Content-Type of its response.
func refusedStream(t *testing.T, conn net.Conn) (status, contentType string) {
	t.Helper()
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, f := range [][2]string{
		{":method", "GET"},
		{":scheme", "https"},
		{":authority", "a"},
		{":path", "/urn:example:a"},
		{"connection", "close"},
	} {
		_ = encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	_, _ = io.WriteString(conn, http2.ClientPreface)
	_ = framer.WriteSettings()
	_ = framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: block.Bytes(), EndStream: true,
		EndHeaders: true,
	})
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if head, ok := frame.(*http2.MetaHeadersFrame); ok {
			for _, f := range head.RegularFields() {
				if f.Name == "content-type" {
					contentType = f.Value
				}
			}
			return head.PseudoValue("status"), contentType
		}
	}
}
