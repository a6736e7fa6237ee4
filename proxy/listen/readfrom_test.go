package listen_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// Files arrive as they are, also at a client that reads slowly, without and with TLS.
func TestFiles(t *testing.T) {
	content := make([]byte, 3<<20+5)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	own, pool := certificates(t)
	for _, secure := range []bool{false, true} {
		listener := localListener(t)
		socket := listen.NewSocket(listener, listen.SocketConfig{
			Limit:         listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 10}, time.Now),
			WriteDeadline: func() time.Time { return time.Now().Add(time.Second) },
		})
		t.Cleanup(func() { _ = socket.Close() })
		serve(t, socket.Listen(), func(c *listen.ServerConfig) {
			if secure {
				c.TLS = own
			}
			c.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				file, err := os.Open(path)
				if err != nil {
					t.Error(err)
					return
				}
				defer file.Close()
				w.Header().Set("Content-Type", "application/octet-stream")
				w.Header().Set("Content-Length", strconv.Itoa(len(content)))
				_, _ = io.Copy(w, io.LimitReader(file, int64(len(content))))
			})
		})
		for _, piece := range []int{len(content), 100_000} {
			conn, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if secure {
				conn = tls.Client(conn, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"})
			}
			fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
			var got bytes.Buffer
			for {
				n, err := io.CopyN(&got, conn, int64(piece))
				if n == 0 || err != nil {
					break
				}
			}
			if _, body, ok := bytes.Cut(got.Bytes(), []byte("\r\n\r\n")); !ok || !bytes.Equal(body, content) {
				t.Errorf("secure %t, by %d: %d octets", secure, piece, len(body))
			}
			conn.Close()
		}
	}
}

// A client that reads nothing of a file is given up.
func TestFileThatNobodyReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 64<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	listener := localListener(t)
	socket := listen.NewSocket(listener, listen.SocketConfig{
		Limit: listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 10}, time.Now), WriteDeadline: shortDeadline,
	})
	t.Cleanup(func() { _ = socket.Close() })
	ended := make(chan error, 1)
	serve(t, socket.Listen(), func(c *listen.ServerConfig) {
		c.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			file, err := os.Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer file.Close()
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set("Content-Length", strconv.Itoa(64<<20))
			_, err = io.Copy(w, io.LimitReader(file, 64<<20))
			ended <- err
		})
	})
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it was sent to a client that reads nothing")
		}
	case <-time.After(testserver.Patience):
		t.Error("the handler still waits")
	}
}
