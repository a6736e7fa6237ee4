package proxy_test

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/proxy"
)

// A client that is slow to read what it has asked for first gets no answer of that time to what it has asked for behind it.
func TestFastPathKnowsTheTime(t *testing.T) {
	const size = 32 << 20
	var ahead atomic.Int64
	o := answering(t, func(string) string {
		return "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: " + strconv.Itoa(size) + "\r\n\r\n" + strings.Repeat("x", size)
	})
	s := start(t, func(c *proxy.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		store, err := memory.New(memory.Config[*httpcache.Entry]{MaxBytes: 32 * size, Size: (*httpcache.Entry).Size})
		if err != nil {
			t.Fatal(err)
		}
		c.Forward.Cache = httpcache.New(httpcache.Config{
			Store: store, Now: c.Now, MaxObject: 2 * size, MaxArriving: 4 * size, Same: func(string, string) (string, bool) { return "", false },
		})
		t.Cleanup(func() { c.Forward.Cache.Close(); store.Close() })
		withAnswers(t, c, located)
	})
	target := "http://" + o.addr + "/"
	text(t, s.get(t, "/urn:ietf:rfc:1"))
	dialled, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer dialled.Close()
	c := newConn(dialled)
	read := func() *http.Response {
		t.Helper()
		response, err := http.ReadResponse(c.in, nil)
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	send := func(octets string) {
		t.Helper()
		if _, err := io.WriteString(dialled, octets); err != nil {
			t.Fatal(err)
		}
	}
	send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n")
	if got := len(text(t, read())); got != size {
		t.Fatal(got)
	}
	send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\nGET /urn:ietf:rfc:1 HTTP/1.1\r\nHost: a\r\n\r\n")
	large := read()
	ahead.Store(int64(2 * time.Minute))
	if got := len(text(t, large)); got != size {
		t.Fatal(got)
	}
	if got := read().Header.Get("Cache-Status"); !strings.Contains(got, "fwd=uri-miss") {
		t.Errorf("an answer that has expired is given: %s", got)
	}
}
