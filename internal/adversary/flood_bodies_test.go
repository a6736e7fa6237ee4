package adversary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// slowBodies are endless requests, and clients that never read (CWE-400, RFC 9110 section 15.5.9).
func (s *stage) slowBodies() []payload {
	short := []string{
		"URND_ACCESS_PROXY_CLIENTS=127.0.0.0/8", "URND_LIMITS_FETCHES=32", "URND_LIMITS_WRITE_TIMEOUT=1s",
		"URND_LIMITS_ORIGIN_IDLE=1s",
	}
	var payloads []payload
	for name, body := range map[string]string{
		"by length": "Content-Length: 1000\r\n\r\na",
		"in chunks": "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
	} {
		p := payload{name: "64 bodies that stop, " + name, section: "RFC 9110 section 15.5.9"}
		payloads = append(payloads, s.alone(p, func(ctx context.Context, d *daemon) error {
			return s.stops(ctx, d, "POST http://"+s.origin.address+"/p/slow HTTP/1.1\r\nHost: a\r\n"+body)
		}, short...))
	}
	unread := payload{name: "40 clients that do not read a page of 20 MB", section: "CWE-400"}
	s.origin.on("/large", func(conn net.Conn, _ *http.Request) bool {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 20000000\r\n\r\n")
		_, _ = io.WriteString(conn, strings.Repeat("a", 20_000_000))
		return false
	})
	payloads = append(payloads, s.alone(unread, func(ctx context.Context, d *daemon) error {
		var conns []net.Conn
		defer func() {
			for _, conn := range conns {
				conn.Close()
			}
		}()
		for i := range 40 {
			conn, err := connect(ctx, d.service, stranger)
			if err != nil {
				return err
			}
			conns = append(conns, conn)
			fmt.Fprintf(conn, "GET http://%s/large?%d HTTP/1.1\r\nHost: a\r\n\r\n", s.origin.address, i)
		}
		one := make([]byte, 1)
		if _, err := io.ReadFull(conns[0], one); err != nil {
			return err
		}
		return errors.Join(soon(ctx, d, victim, "/urn:ietf:rfc:3", 302),
			soon(ctx, d, victim, "http://"+s.origin.address+"/p/read", 200), d.below(300))
	}, short...))
	return inFamily("slow bodies", payloads)
}

// stops sends the beginning of a request over many connections. Meanwhile another client must get a response,
// and the connections must end.
func (s *stage) stops(ctx context.Context, d *daemon, beginning string) error {
	const n = 64
	ended := make(chan struct{}, n)
	for range n {
		conn, err := connect(ctx, d.service, stranger)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, beginning); err != nil {
			return err
		}
		go func() {
			_, _ = io.Copy(io.Discard, conn)
			ended <- struct{}{}
		}()
	}
	if err := soon(ctx, d, victim, "http://"+s.origin.address+"/p/quick", 200); err != nil {
		return fmt.Errorf("another client is not answered: %w", err)
	}
	late := time.NewTimer(waitLimit)
	defer late.Stop()
	for i := range n {
		select {
		case <-ended:
		case <-late.C:
			return fmt.Errorf("after %s %d of %d connections are still open", waitLimit, n-i, n)
		}
	}
	return nil
}
