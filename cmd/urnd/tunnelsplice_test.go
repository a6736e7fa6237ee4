//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// A tunnel without TLS is moved by the kernel, as far as its connections are wrapped: what a client does not read is in a pipe,
// and comes later, whole. A client that reads nothing is disconnected within limits.write_timeout.
func TestTunnelThatNobodyReads(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Addr().String())
	l := start(t, "limits: {write_timeout: 3s}", fmt.Sprintf("proxy: {connect_ports: [%s], connect_addresses: true}", port),
		"access: {allow_destinations: [127.0.0.0/8], proxy_clients: [127.0.0.0/8]}")
	pipes := func() (count int) {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			if to, err := os.Readlink("/proc/self/fd/" + one.Name()); err == nil && strings.HasPrefix(to, "pipe:") {
				count++
			}
		}
		return count
	}
	for _, reads := range []bool{true, false} {
		before := pipes()
		client := dialUnread(t, l.url[len("http://"):])
		fmt.Fprintf(client, "CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", server.Addr())
		in := bufio.NewReader(client)
		if response, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect}); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%+v, %v", response, err)
		}
		far, err := server.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer far.Close()
		sent := octets(32 << 20)
		_ = far.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
		n, err := far.Write(sent)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%d octets were taken, %v", n, err)
		}
		if reads && pipes() == before {
			t.Error("the octets of a tunnel are in no pipe")
		}
		if !reads {
			_ = far.SetDeadline(time.Now().Add(testserver.Patience))
			if _, err := far.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the tunnel of a client that reads nothing: %v", err)
			}
			continue
		}
		_ = far.(*net.TCPConn).CloseWrite()
		if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, sent[:n]) {
			t.Errorf("%d of %d octets came, %v", len(got), n, err)
		}
		client.Close()
	}
}
