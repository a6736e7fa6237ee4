//go:build e2e && linux

package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestUnreadTunnel: a tunnel without TLS is spliced by the kernel if its connections permit it. Data
// that a client does not read yet remains in a pipe and arrives completely later. A client that reads nothing
// is disconnected within limits.write_timeout.
func TestUnreadTunnel(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Addr().String())
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Access.ProxyClients = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		c.Limits.WriteTimeout = 3 * time.Second
		c.Proxy.ConnectPorts = []config.PortRange{{First: uint16(number), Last: uint16(number)}}
	})
	descriptors := fmt.Sprintf("/proc/%d/fd", d.Process.Pid)
	pipes := func() (count int) {
		all, err := os.ReadDir(descriptors)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			if to, err := os.Readlink(filepath.Join(descriptors, one.Name())); err == nil &&
				strings.HasPrefix(to, "pipe:") {
				count++
			}
		}
		return count
	}
	for _, reads := range []bool{true, false} {
		before := pipes()
		client := dialUnread(t, at(d.URL))
		fmt.Fprintf(client, "CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", server.Addr())
		in := bufio.NewReader(client)
		if response, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect}); err != nil ||
			response.StatusCode != http.StatusOK {
			t.Fatalf("%+v, %v", response, err)
		}
		far, err := server.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer far.Close()
		sent := urndtest.RandomBytes(32 << 20)
		_ = far.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
		n, err := far.Write(sent)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%d bytes were taken, %v", n, err)
		}
		if reads && pipes() == before {
			t.Error("the bytes of a tunnel are in no pipe")
		}
		if !reads {
			_ = far.SetDeadline(time.Now().Add(testserver.Timeout))
			if _, err := far.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the tunnel of a client that reads nothing: %v", err)
			}
			continue
		}
		_ = far.(*net.TCPConn).CloseWrite()
		if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, sent[:n]) {
			t.Errorf("%d of %d bytes came, %v", len(got), n, err)
		}
		client.Close()
	}
}
