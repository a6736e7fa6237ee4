package adversary

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"
)

// reply is a response of urnd.
type reply struct {
	status int
	header http.Header
	body   string
}

// connect opens a connection from a loopback address; each address is a separate client.
func connect(ctx context.Context, address, from string) (net.Conn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	retry := time.NewTicker(100 * time.Millisecond)
	defer retry.Stop()
	for errors.Is(err, syscall.EADDRINUSE) { // all ports are in TIME-WAIT
		select {
		case <-retry.C:
			conn, err = dialer.DialContext(ctx, "tcp", address)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	return conn, nil
}

// connectTLS opens a TLS connection that offers a protocol by ALPN.
func connectTLS(ctx context.Context, address, protocol string) (*tls.Conn, error) {
	return connectTLSFrom(ctx, address, friend, protocol)
}

// connectTLSFrom is like connectTLS from a client address.
func connectTLSFrom(ctx context.Context, address, from, protocol string) (*tls.Conn, error) {
	conn, err := connect(ctx, address, from)
	if err != nil {
		return nil, err
	}
	secure := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}})
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secure, nil
}

// get sends a GET with optional fields, "Name: value", over a new connection. The target is sent unmodified;
// Host is the address unless fields contain one. After a redirect it sends the request twice on a persistent
// connection, because urnd may then respond in the goroutine that reads the connection.
func get(ctx context.Context, address, from, target string, fields ...string) (reply, error) {
	got, err := ask(ctx, address, from, "GET", target, "", fields...)
	if err != nil || got.status != http.StatusFound {
		return got, err
	}
	again, err := requestAgain(ctx, address, from, target, fields...)
	if err != nil {
		return reply{}, fmt.Errorf("asked again: %w", err)
	}
	if again.status != got.status || again.header.Get("Location") != got.header.Get("Location") ||
		again.body != got.body {
		return reply{}, fmt.Errorf("asked again, it is answered %d to %q, not %d to %q",
			again.status, again.header.Get("Location"), got.status, got.header.Get("Location"))
	}
	return got, nil
}

// requestAgain sends a GET twice over a connection and returns the second response.
func requestAgain(ctx context.Context, address, from, target string, fields ...string) (last reply, err error) {
	conn, err := connect(ctx, address, from)
	if err != nil {
		return reply{}, err
	}
	defer conn.Close()
	head := fmt.Sprintf("GET %s HTTP/1.1\r\n", target)
	if !slices.ContainsFunc(fields, func(field string) bool { return strings.HasPrefix(field, "Host:") }) {
		head += "Host: " + address + "\r\n"
	}
	for _, field := range fields {
		head += field + "\r\n"
	}
	for range 2 {
		if last, err = roundTrip(conn, head+"\r\n"); err != nil {
			return reply{}, err
		}
	}
	return last, nil
}

// ask sends a request with a body, "" for none, and returns the response.
func ask(ctx context.Context, address, from, method, target, body string, fields ...string) (reply, error) {
	var head strings.Builder
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nConnection: close\r\n", method, target)
	host := "Host: " + address
	for _, field := range fields {
		if strings.HasPrefix(field, "Host:") {
			host = field
			continue
		}
		head.WriteString(field + "\r\n")
	}
	head.WriteString(host + "\r\n")
	if body != "" {
		fmt.Fprintf(&head, "Content-Length: %d\r\n", len(body))
	}
	head.WriteString("\r\n" + body)
	replies, err := converse(ctx, address, from, head.String(), method)
	switch {
	case err != nil:
		return reply{}, err
	case len(replies) == 0:
		return reply{}, errors.New("the connection is closed without a response")
	default:
		return replies[0], nil
	}
}

// silence is the time without data from urnd after which the client half-closes a connection.
const silence = 2 * time.Second

// converse sends bytes over a new connection, and returns all responses until urnd closes it. If urnd waits for
// more, the client half-closes the connection.
func converse(ctx context.Context, address, from, data string, methods ...string) ([]reply, error) {
	conn, err := connect(ctx, address, from)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	text, err := dialogue(ctx, conn, data)
	if err != nil {
		return nil, err
	}
	return replies(text, methods...)
}

// dialogue writes bytes and reads until the other side closes the connection, or sends nothing although the
// client has half-closed it.
func dialogue(ctx context.Context, conn net.Conn, data string) ([]byte, error) {
	go func() { _, _ = io.WriteString(conn, data) }() // urnd may respond before it has read everything
	var text bytes.Buffer
	halved := false
	for buffer := make([]byte, 64<<10); ; {
		_ = conn.SetReadDeadline(time.Now().Add(silence))
		n, err := conn.Read(buffer)
		text.Write(buffer[:n])
		var timeout net.Error
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil, fmt.Errorf("the connection stays open: %w", ctx.Err())
		case errors.As(err, &timeout) && timeout.Timeout() && !halved:
			halved = true
			if half, ok := conn.(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			}
		case errors.As(err, &timeout) && timeout.Timeout():
			continue // until the end of ctx
		default: // closed or reset
			return text.Bytes(), nil
		}
	}
}

// replies parses all responses on a connection, without interim responses. Nothing can follow a truncated one.
func replies(text []byte, methods ...string) ([]reply, error) {
	var all []reply
	reader := bufio.NewReader(bytes.NewReader(text))
	for whole := true; whole && hasMore(reader); {
		method := "GET"
		if len(all) < len(methods) {
			method = methods[len(all)]
		}
		response, err := http.ReadResponse(reader, &http.Request{Method: method})
		if err != nil {
			return all, fmt.Errorf("urnd sent no valid response: %w: %.300q", err, text)
		}
		body, err := io.ReadAll(response.Body)
		if response.StatusCode < 200 {
			continue
		}
		all = append(all, reply{response.StatusCode, response.Header, string(body)})
		whole = err == nil
	}
	return all, nil
}

func hasMore(reader *bufio.Reader) bool {
	_, err := reader.Peek(1)
	return err == nil
}

// roundTrip sends a request over a connection and waits for one response without a time limit.
func roundTrip(conn net.Conn, data string) (reply, error) {
	if _, err := io.WriteString(conn, data); err != nil {
		return reply{}, err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, string(body)}, err
}
