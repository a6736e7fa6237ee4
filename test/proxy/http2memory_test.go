//go:build e2e

package proxy

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// fullConn is like tryFullConn, but fails the test on an error.
func fullConn(t *testing.T, address, host, target string, most int) (conn *tls.Conn, streams int) {
	t.Helper()
	conn, streams, err := tryFullConn(address, host, target, most)
	if err != nil {
		t.Error(err)
	}
	return conn, streams
}

// tryFullConn opens an HTTP/2 connection whose streams have no window, and requests a target on as many streams
// as the server permits. It returns when the heads of all responses have arrived, with the number of streams.
// The connection may be nil.
func tryFullConn(address, host, target string, most int) (conn *tls.Conn, streams int, err error) {
	conn, err = tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		return nil, 0, err
	}
	framer := http2.NewFramer(conn, conn)
	_, _ = io.WriteString(conn, http2.ClientPreface)
	_ = framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	encoder.SetMaxDynamicTableSizeLimit(0)
	started := 0
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return conn, 0, fmt.Errorf("behind %d of %d heads: %w", started, streams, err)
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = framer.WriteSettingsAck() // a busy machine may exceed the time that the server waits for that
			}
			allowed, _ := frame.Value(http2.SettingMaxConcurrentStreams)
			for ; !frame.IsAck() && streams < min(int(allowed), most); streams++ {
				block.Reset()
				for _, f := range [][2]string{
					{":method", "GET"},
					{":scheme", "https"},
					{":authority", host},
					{":path", target},
				} {
					_ = encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
				}
				_ = framer.WriteHeaders(http2.HeadersFrameParam{
					StreamID: uint32(2*streams + 1), BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true,
				})
			}
		case *http2.HeadersFrame:
			if started++; started == streams {
				return conn, streams, nil
			}
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return conn, 0, fmt.Errorf("%v", frame)
		}
	}
}

// listenSecure makes urnd listen for TLS and resolve names of urn:book:.
func listenSecure(t *testing.T, c *config.Config) {
	t.Helper()
	certificate, key := urndtest.NewAuthority(t).Issue(t, "localhost")
	urndtest.NewPairFiles(t, certificate, key).Listen(c, "127.0.0.1:0")
	c.Namespaces = []config.Namespace{book("a")}
}

// limitMemory sets small caches and limits, and the limit of the total memory.
func limitMemory(c *config.Config, memory config.Size) {
	c.Cache.Answers, c.Cache.Records, c.Cache.Responses, c.Cache.MaxResponse = 8<<20, 4<<20, 16<<20, 1<<20
	l := &c.Limits
	l.Memory, l.Connections, l.Documents, l.Requests, l.Fetches, l.Streams = memory, 160, 8<<20, 64, 64, 64
}

// TestMemoryOfStreams checks that clients with the maximum number of connections, and of streams that wait for
// a window, use no more memory than configured.
func TestMemoryOfStreams(t *testing.T) {
	t.Parallel()
	const connections, memory = 150, 350 << 20
	skipWithRace(t)
	page := bytes.Repeat([]byte("x"), 64<<10)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		_, _ = w.Write(page)
	}))
	defer origin.Close()
	for _, tt := range []struct{ name, host, target string }{
		{"redirects of names", "localhost", "/urn:book:1"}, {"a page of a site", "www.example.org", "/page"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := urndtest.Start(t, noDNS, func(c *config.Config) {
				listenSecure(t, c)
				limitMemory(c, memory)
				urndtest.OpenLoopback(c)
				c.Proxy.Sites = []config.Site{{Hosts: []string{"www.example.org"}, Servers: []string{origin.URL}}}
			})
			first, _ := fullConn(t, d.TLS, tt.host, tt.target, 1)
			defer first.Close()
			before := residentKiB(t, d.Process.Pid)
			var open [connections]*tls.Conn
			var streams [connections]int
			var all sync.WaitGroup
			for i := range open {
				all.Go(func() { open[i], streams[i] = fullConn(t, d.TLS, tt.host, tt.target, math.MaxInt) })
			}
			all.Wait()
			total, got := 0, residentKiB(t, d.Process.Pid)
			for i, conn := range open {
				total += streams[i]
				if conn != nil {
					_ = conn.Close()
				}
			}
			t.Logf("%d streams: %d MiB, %d MiB before them, %d KiB a stream", total, got>>10, before>>10,
				(got-before)/max(total, 1))
			if got > memory>>10 {
				t.Errorf("%d MiB of %d", got>>10, memory>>20)
			}
		})
	}
}

// TestHTTP2RequestsOfReload checks that the number of concurrent requests on an HTTP/2 connection is limited by
// the available memory, also after a reload.
func TestHTTP2RequestsOfReload(t *testing.T) {
	t.Parallel()
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		listenSecure(t, c)
		c.Listen.TLS = []string{urndtest.FreeAddress(t)}
		limitMemory(c, 350<<20)
	})
	for _, test := range []struct {
		memory config.Size
		want   int
	}{{350 << 20, 18}, {400 << 20, 28}, {2 << 30, 100}, {350 << 20, 18}} {
		if !reload(t, d, func(c *config.Config) { c.Limits.Memory = test.memory }) {
			t.Fatal("the reload is refused")
		}
		// The previous server may accept one more connection while it ends.
		testserver.Wait(t, fmt.Sprintf("%d requests at a time are allowed", test.want), func() bool {
			conn, n, err := tryFullConn(d.TLS, "localhost", "/urn:book:1", math.MaxInt)
			if conn != nil {
				_ = conn.Close()
			}
			return err == nil && n == test.want
		})
	}
}

// TestEndedClientLeavesItsPlace checks that a client that has closed its side releases its quota, although its
// streams wait for a window that it can no longer open.
func TestEndedClientLeavesItsPlace(t *testing.T) {
	t.Parallel()
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		listenSecure(t, c)
		c.Limits.Connections, c.Limits.WriteTimeout = 1, 24*time.Hour
	})
	conn, n := fullConn(t, d.TLS, "localhost", "/urn:book:1", math.MaxInt)
	if n == 0 {
		t.Fatal("no streams")
	}
	defer conn.Close()
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	other := http.Client{
		Transport: transport, Timeout: testserver.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := other.Get("https://" + d.TLS + "/urn:book:1")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusFound {
		t.Error(response.Status)
	}
}
