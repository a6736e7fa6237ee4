package main

import (
	"bytes"
	"crypto/tls"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/urnd/urnd/internal/testserver"
)

// fullConn opens a connection by HTTP/2 whose streams have no window, asks for a target by as many streams as the server lets it have,
// and returns when the heads of all responses have come, with the number of streams.
func fullConn(t *testing.T, address, host, target string, most int) (conn *tls.Conn, streams int) {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Error(err)
		return nil, 0
	}
	framer := http2.NewFramer(conn, conn)
	_, _ = io.WriteString(conn, http2.ClientPreface)
	_ = framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	encoder.SetMaxDynamicTableSizeLimit(0)
	begun := 0
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Errorf("behind %d of %d heads: %v", begun, streams, err)
			return conn, 0
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			allowed, _ := frame.Value(http2.SettingMaxConcurrentStreams)
			for ; !frame.IsAck() && streams < min(int(allowed), most); streams++ {
				block.Reset()
				for _, f := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", host}, {":path", target}} {
					_ = encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
				}
				_ = framer.WriteHeaders(http2.HeadersFrameParam{
					StreamID: uint32(2*streams + 1), BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true,
				})
			}
		case *http2.HeadersFrame:
			if begun++; begun == streams {
				return conn, streams
			}
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			t.Errorf("%v", frame)
			return conn, 0
		}
	}
}

// secureLines are those of an urnd with TLS.
func secureLines(t *testing.T) []string {
	t.Helper()
	certificate, key := newAuthority(t).issue(t, "localhost")
	pair := newPairFiles(t, certificate, key)
	return []string{
		"listen: {service: '127.0.0.1:0', tls: '127.0.0.1:0', admin: '127.0.0.1:0'}", "tls: {certificate: '" + pair.certificate + "', key: '" + pair.key + "'}",
	}
}

// Clients who fill all connections that they may have with streams that wait for a window, and all those streams, take no more memory than
// was set.
func TestMemoryOfStreams(t *testing.T) {
	const connections, memory = 150, 350 << 10 // KiB
	binary, page := filepath.Join(build(t), "urnd"), bytes.Repeat([]byte("x"), 64<<10)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		_, _ = w.Write(page)
	}))
	defer origin.Close()
	for _, tt := range []struct{ name, host, target string }{
		{"redirects of names", "localhost", "/urn:book:1"}, {"a page of a site", "www.example.org", "/page"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newFileDaemon(t, append(secureLines(t), "log: {format: text, level: info}",
				"proxy: {origins: [{host: www.example.org, servers: ['"+origin.URL+"']}]}",
				"cache: {answers: 8MiB, records: 4MiB, responses: 16MiB, max_response: 1MiB}",
				"limits: {memory: 350MiB, connections: 160, documents: 8MiB, requests: 64, fetches: 64, streams: 64}")...)
			if out, err := run(t, "", "config", "check", l.file); err != nil {
				t.Fatalf("%s, %v", out, err)
			}
			l.startProgram(t, exec.Command(binary, "serve", "--config", l.file))
			l.ready(t)
			first, _ := fullConn(t, l.secure, tt.host, tt.target, 1)
			defer first.Close()
			before := residentKiB(t, l.pid)
			var open [connections]*tls.Conn
			var streams [connections]int
			var all sync.WaitGroup
			for i := range open {
				all.Go(func() { open[i], streams[i] = fullConn(t, l.secure, tt.host, tt.target, math.MaxInt) })
			}
			all.Wait()
			total, got := 0, residentKiB(t, l.pid)
			for i, conn := range open {
				total += streams[i]
				if conn != nil {
					_ = conn.Close()
				}
			}
			t.Logf("%d streams: %d MiB, %d MiB before them, %d KiB a stream", total, got>>10, before>>10, (got-before)/max(total, 1))
			if got > memory {
				t.Errorf("%d MiB of %d", got>>10, memory>>10)
			}
		})
	}
}

// A connection by HTTP/2 has as many requests at a time as the memory has room for, also behind a reload.
func TestHTTP2RequestsOfReload(t *testing.T) {
	secure := secureLines(t)
	const small = "cache: {answers: 8MiB, records: 4MiB, responses: 16MiB, max_response: 1MiB}"
	lines := func(memory string) []string {
		limits := "limits: {memory: " + memory + ", connections: 160, documents: 8MiB, requests: 64, fetches: 64, streams: 64}"
		return append(slices.Clone(secure), small, limits)
	}
	l := start(t, lines("350MiB")...)
	for _, test := range []struct {
		memory string
		want   int
	}{{"350MiB", 18}, {"400MiB", 28}, {"2GiB", 100}, {"350MiB", 18}} {
		l.write(t, lines(test.memory)...)
		if !l.reload(t) {
			t.Fatal("the reload is refused")
		}
		l.ready(t)
		conn, n := fullConn(t, l.secure, "localhost", "/urn:book:1", math.MaxInt)
		if conn != nil {
			_ = conn.Close()
		}
		if n != test.want {
			t.Errorf("with %s: %d requests at a time, want %d", test.memory, n, test.want)
		}
	}
}

// A client that has ended its side leaves its place to others, although its streams wait for a window that it can no longer open.
func TestEndedClientLeavesItsPlace(t *testing.T) {
	l := start(t, append(secureLines(t), "listen: {service: '127.0.0.1:0', tls: '127.0.0.1:0', admin: ''}", "limits: {connections: 1, write_timeout: 24h}")...)
	conn, n := fullConn(t, l.secure, "localhost", "/urn:book:1", math.MaxInt)
	if n == 0 {
		t.Fatal("no streams")
	}
	defer conn.Close()
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	other := http.Client{Transport: transport, Timeout: testserver.Patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := other.Get("https://" + l.secure + "/urn:book:1")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusFound {
		t.Error(response.Status)
	}
}
