package adversary

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// connections are many nearly idle connections of one client (CWE-400; RFC 9112 section 9.5).
func (s *stage) connections() []payload {
	limits := []string{"URND_LIMITS_CONNECTIONS=400", "URND_LIMITS_CLIENT_CONNECTIONS=200"}
	var payloads []payload
	for name, beginning := range map[string]string{
		"that say nothing": "", "with half of a request line": "GET /urn:ietf",
		"with half of a header": "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: a\r\nX: ",
		"that are kept alive":   "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: a\r\n\r\n",
		"with half of a body":   "POST /api/v1/resolve HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n[",
	} {
		p := payload{name: "300 connections " + name, section: "RFC 9112 section 9.5"}
		payloads = append(payloads, s.alone(p, func(ctx context.Context, d *daemon) error {
			conns, err := s.open(ctx, d.service, 300, beginning)
			defer closeAll(conns)
			return errors.Join(err, soon(ctx, d, victim, "/urn:ietf:rfc:4", 302), d.below(300))
		}, limits...))
	}
	slow := payload{name: "200 headers that come byte by byte", section: "RFC 9112 section 9.5"}
	hello := payload{name: "200 handshakes of TLS that stop", section: "RFC 8446 section 4.1.2"}
	pipelined := payload{name: "20 000 requests at once, and no reading", section: "RFC 9112 section 9.3.2"}
	payloads = append(payloads,
		s.alone(slow, func(ctx context.Context, d *daemon) error {
			conns, err := s.open(ctx, d.service, 200, "GET /urn:ietf:rfc:2648 HTTP/1.1\r\n")
			defer closeAll(conns)
			if err != nil {
				return err
			}
			// Each byte is progress, but the header as a whole has a time limit.
			return eventually(ctx, 15*time.Second, func() error {
				open := 0
				for _, conn := range conns {
					if _, err := io.WriteString(conn, "X"); err == nil {
						open++
					}
				}
				if open > 0 {
					return fmt.Errorf("%d of %d connections stay open", open, len(conns))
				}
				return soon(ctx, d, stranger, "/urn:ietf:rfc:5", 302)
			})
		}, limits...),
		s.alone(hello, func(ctx context.Context, d *daemon) error {
			conns, err := s.open(ctx, d.tls, 200, "\x16\x03\x01\x02\x00\x01")
			defer closeAll(conns)
			if err != nil {
				return err
			}
			conn, err := connectTLS(ctx, d.tls, "http/1.1")
			if err != nil {
				return fmt.Errorf("another handshake: %w", err)
			}
			defer conn.Close()
			return quick(conn)
		}),
		s.alone(pipelined, func(ctx context.Context, d *daemon) error {
			conns, err := s.open(ctx, d.service, 4,
				strings.Repeat("GET /urn:ietf:rfc:2648?s=I2C HTTP/1.1\r\nHost: a\r\n\r\n", 500))
			defer closeAll(conns)
			for _, conn := range conns {
				go func() {
					_, _ = io.WriteString(conn,
						strings.Repeat("GET /urn:ietf:rfc:2648?s=I2C HTTP/1.1\r\nHost: a\r\n\r\n", 20_000))
				}()
			}
			return errors.Join(err, soon(ctx, d, victim, "/urn:ietf:rfc:6", 302), d.below(300))
		}),
	)
	return inFamily("connections", payloads)
}

// open opens connections of one client, and sends the beginning of a request over each. Refused connections are
// not an error.
func (s *stage) open(ctx context.Context, address string, n int, beginning string) ([]net.Conn, error) {
	var conns []net.Conn
	for range n {
		conn, err := connect(ctx, address, stranger)
		if err != nil {
			return conns, err
		}
		conns = append(conns, conn)
		_, _ = io.WriteString(conn, beginning)
	}
	return conns, nil
}

func closeAll(conns []net.Conn) {
	for _, conn := range conns {
		conn.Close()
	}
}

// quick sends a request over TLS and returns an error unless it gets a response.
func quick(conn *tls.Conn) error {
	got, err := roundTrip(conn, "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	if err == nil && got.status != 302 {
		err = fmt.Errorf("it is answered %d", got.status)
	}
	return err
}
