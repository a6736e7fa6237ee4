package proxy_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// Several clients share a response while it arrives: one of them records its trailers while others start
// reading. Each gets the trailers at the end.
func TestTrailersForMany(t *testing.T) {
	const clients = 8
	var come sync.WaitGroup
	o := listenRaw(t, func(p *peer, c net.Conn, in *bufio.Reader) {
		for {
			request, err := readMessage(in)
			if err != nil {
				return
			}
			p.record(request)
			_, _ = io.WriteString(c,
				"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, "+
					"X-Other\r\n\r\n")
			come.Wait()
			_, _ = io.WriteString(c, "1\r\na\r\n0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n")
		}
	})
	s := start(t, func(c *proxy.Config) { withCache(t, c) })
	for i := range 30 {
		var all sync.WaitGroup
		come.Add(1)
		for n := range clients {
			all.Go(func() {
				if n == clients/2 {
					come.Done()
				}
				if got, _ := s.bytes(t,
					fmt.Sprintf("GET http://%s/%d HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: close, TE\r\n\r\n",
						o.addr,
						i)); !strings.Contains(got, " 200 ") {
					t.Errorf("%q", got)
				}
			})
		}
		all.Wait()
	}
}

// A leader that has half-closed its connection may have disconnected (RFC 9112 section 9.6): a client whose request
// was collapsed with its own does not wait for it, by HTTP/1 and by HTTP/2.
func TestHalfClosedLeader(t *testing.T) {
	requested, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	o := listenRaw(t, func(p *peer, c net.Conn, in *bufio.Reader) {
		request, err := readMessage(in)
		if err != nil {
			return
		}
		if p.record(request); len(p.requests())%2 == 1 { // of a leader
			requested <- struct{}{}
			<-release
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok")
	})
	_, port, _ := net.SplitHostPort(o.addr)
	host := "localhost:" + port
	begin := func(secure *tls.Config) *server {
		return startOn(t, secure, func(c *proxy.Config) {
			withCache(t, c, func(c *httpcache.Config) { c.CollapseTimeout = time.Hour })
			fetch := schemehttp.New(schemehttp.Config{
				Dial: netguard.New(time.Second, loopback).DialContext, HeaderTimeout: time.Hour, Now: time.Now,
			})
			t.Cleanup(fetch.Close)
			c.Fetch = scheme.Mux{"http": fetch}
		})
	}
	leave := func(leader net.Conn) {
		<-requested
		if tcp, ok := leader.(*net.TCPConn); !ok || tcp.CloseWrite() != nil {
			t.Error("the leader cannot close its side")
		}
	}

	s, request := begin(nil), "GET http://"+host+"/ HTTP/1.1\r\nHost: a\r\n\r\n"
	leader := s.dial(t)
	_, _ = io.WriteString(leader, request)
	leave(leader.Conn)
	if got := text(t, s.ask(t, request)[0]); got != "ok" {
		t.Errorf("HTTP/1: %q", got)
	}

	s = begin(certificate(t))
	streams := s.dialStreams(t, "proxy.example")
	streams.open(true, ":method", "GET", ":scheme", "http", ":authority", host, ":path", "/")
	leave(streams.conn.NetConn())
	if _, got := s.ask2(t, "GET", "http://"+host+"/", nil, nil); got != "ok" {
		t.Errorf("HTTP/2: %q", got)
	}
}
