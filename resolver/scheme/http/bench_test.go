//go:build unix

package http_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"

	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// cpu returns the CPU time that this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkGet compares a GET on a kept-alive connection with that of net/http's Transport. The origin is the
// same raw server in this process, so its CPU time is in both.
func BenchmarkGet(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		response := append(fmt.Appendf(nil,
			"HTTP/1.1 200 OK\r\nDate: Sun, 22 Nov 2026 06:00:00 GMT\r\nServer: a\r\nContent-Type: "+
				"text/plain\r\nETag: \"b\"\r\nCache-Control: max-age=60\r\nContent-Length: %d\r\n\r\n", size),
			bytes.Repeat([]byte("x"), size)...)
		o := serveBytes(b, response)
		guard := netguard.New(time.Second, netip.MustParsePrefix("127.0.0.0/8"))
		header := httpmessage.NewFields("Accept", "*/*", "User-Agent", "a/1", "Via", "1.1 urnd")
		buffer := make([]byte, 32<<10)
		read := func(b *testing.B, body io.ReadCloser) {
			n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{body}, buffer)
			if err != nil || n != int64(size) {
				b.Fatal(n, err)
			}
			body.Close()
		}
		run := func(name string, get func(b *testing.B)) {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(size))
				get(b) // opens the connection
				before := cpu(b)
				for b.Loop() {
					get(b)
				}
				b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
			})
		}
		h := schemehttp.New(schemehttp.Config{
			Dial: guard.WithIdleTimeout(time.Minute), HeaderTimeout: time.Minute,
			MaxIdle: 8, Now: time.Now,
		})
		request := scheme.Request{Request: httpmessage.Request{
			Method: "GET", URI: parse(b, "http://"+o+"/a/b?c"),
			Fields: header,
		}}
		run("urnd", func(b *testing.B) {
			r, err := h.Fetch(b.Context(), request)
			if err != nil {
				b.Fatal(err)
			}
			read(b, r.Body)
		})
		h.Close()
		transport := &http.Transport{
			DialContext:           guard.WithIdleTimeout(time.Minute),
			ResponseHeaderTimeout: time.Minute, DisableCompression: true,
		}
		run("net-http", func(b *testing.B) {
			r, err := http.NewRequestWithContext(b.Context(), "GET", request.URI.String(), nil)
			if err != nil {
				b.Fatal(err)
			}
			r.Header = header.Header()
			response, err := transport.RoundTrip(r)
			if err != nil {
				b.Fatal(err)
			}
			read(b, response.Body)
		})
		transport.CloseIdleConnections()
	}
}

// serveBytes sends the response for each read: each request arrives in one.
func serveBytes(b *testing.B, response []byte) (address string) {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buffer := make([]byte, 4096)
				for {
					if _, err := c.Read(buffer); err != nil {
						return
					}
					if _, err := c.Write(response); err != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String()
}
