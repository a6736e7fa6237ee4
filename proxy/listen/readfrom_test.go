package listen_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// shortDeadline is a deadline for clients that are expected to fail.
func shortDeadline() time.Time { return time.Now().Add(50 * time.Millisecond) }

// serveOnce serves connections of a socket by a function, which gets the first request in sent.
func serveOnce(
	t testing.TB, socket listen.SocketConfig, secure bool, serveOne func(*listen.Conn),
) (dial func() *caller) {
	t.Helper()
	own, pool := certificates(t)
	socket.Limit = listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 10}, time.Now)
	s := listen.NewSocket(localListener(t), socket)
	t.Cleanup(func() { _ = s.Close() })
	serve(t, s.Listener(), func(c *listen.ServerConfig) {
		if secure {
			c.TLS = own
		}
		c.Serve = func(c *listen.Conn) {
			if _, err := c.Handshake(); err != nil {
				return
			}
			if _, err := c.Read(make([]byte, 1)); err != nil || !c.SetServing() {
				return
			}
			serveOne(c)
		}
	})
	return func() *caller {
		if secure {
			return dialTLS(t, s.Addr().String(), pool)
		}
		return call(t, s.Addr().String(), "127.0.0.1")
	}
}

// Files and buffers arrive unchanged, also at a client that reads slowly, without and with TLS.
func TestFiles(t *testing.T) {
	content := make([]byte, 3<<20+5)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	socket := listen.SocketConfig{WriteDeadline: func() time.Time { return time.Now().Add(time.Second) }}
	for name, send := range map[string]func(*listen.Conn){
		"a file": func(c *listen.Conn) {
			file, err := os.Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer file.Close()
			_, _ = c.ReadFrom(io.LimitReader(file, int64(len(content))))
		},
		"a reader": func(c *listen.Conn) { _, _ = c.ReadFrom(bytes.NewReader(content)) },
		"buffers":  func(c *listen.Conn) { _, _ = c.WriteBuffers(net.Buffers{content[:5], content[5:]}) },
		"bytes":    func(c *listen.Conn) { _, _ = c.Write(content) },
	} {
		for _, secure := range []bool{false, true} {
			dial := serveOnce(t, socket, secure, send)
			for _, piece := range []int{len(content), 100_000} {
				c := dial()
				c.send(t, "a")
				var got bytes.Buffer
				for {
					n, err := io.CopyN(&got, c.in, int64(piece))
					if n == 0 || err != nil {
						break
					}
				}
				if !bytes.Equal(got.Bytes(), content) {
					t.Errorf("%s, secure %t, by %d: %d bytes", name, secure, piece, got.Len())
				}
				c.Close()
			}
		}
	}
}

// A client that does not read a file is disconnected by a reset, and does not delay others.
func TestUnreadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 64<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, send := range map[string]func(*listen.Conn) error{
		"a file": func(c *listen.Conn) error {
			file, err := os.Open(path)
			if err != nil {
				return nil // the test fails then
			}
			defer file.Close()
			_, err = c.ReadFrom(io.LimitReader(file, 64<<20))
			return err
		},
		"bytes": func(c *listen.Conn) error {
			_, err := c.Write(make([]byte, 64<<20))
			return err
		},
	} {
		ended := make(chan error, 1)
		socket := listen.SocketConfig{WriteDeadline: shortDeadline}
		dial := serveOnce(t, socket, false, func(c *listen.Conn) { ended <- send(c) })
		c := dial()
		c.send(t, "a")
		testserver.Within(t, name, func() {
			if err := <-ended; !timedOut(err) {
				t.Errorf("%s: %v", name, err)
			}
		})
		if _, err := io.Copy(io.Discard, c.in); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: it ends by %v", name, err)
		}
	}
}

// An aborted response does not look complete, even if the end of the connection is the end of the response.
func TestAbort(t *testing.T) {
	for _, secure := range []bool{false, true} {
		dial := serveOnce(t, listen.SocketConfig{}, secure, func(c *listen.Conn) {
			_, _ = c.Write(make([]byte, 10_000))
			c.Abort()
			if n, err := c.Write(make([]byte, 1)); n > 0 || err == nil {
				t.Errorf("%d bytes are written behind Abort, %v", n, err)
			}
		})
		c := dial()
		c.send(t, "a")
		if _, err := io.ReadAll(c.in); err == nil || timedOut(err) {
			t.Errorf("secure %t: it looks complete, %v", secure, err)
		}
	}
}

// A client that is still sending reads the last response completely after Linger: RFC 9112 section 9.6.
func TestLinger(t *testing.T) {
	for _, secure := range []bool{false, true} {
		dial := serveOnce(t, listen.SocketConfig{}, secure, func(c *listen.Conn) {
			_, _ = io.WriteString(c, "enough")
			_ = c.Linger()
		})
		c := dial()
		c.send(t, "a")
		c.send(t, string(make([]byte, 1<<20)))
		if got, err := io.ReadAll(c.in); err != nil || string(got) != "enough" {
			t.Errorf("secure %t: %q, %v", secure, got, err)
		}
	}
}
