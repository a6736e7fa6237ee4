package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/proxy"
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
