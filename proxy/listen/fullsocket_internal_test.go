//go:build linux

package listen

import (
	"net"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"
)

// fullSocket is a socket whose buffer is full until the write deadline, before which its peer reads.
type fullSocket struct {
	net.Conn
	read func()
}

func (s fullSocket) SyscallConn() (syscall.RawConn, error) {
	return s.Conn.(syscall.Conn).SyscallConn()
}

func (s fullSocket) Write(p []byte) (int, error) {
	n := newDirectIO(s.Conn).try(p)
	if n == len(p) {
		return n, nil
	}
	s.read()
	return n, os.ErrDeadlineExceeded
}

// A client that reads a chunk before each deadline gets all, even if the socket accepts nothing until the client has
// read more. One that reads nothing does not.
func TestWriteToFullSocket(t *testing.T) {
	content := make([]byte, 16<<20)
	for name, write := range map[string]func(c *clientConn) (int64, error){
		"Write": func(c *clientConn) (int64, error) { n, err := c.Write(content); return int64(n), err },
		"WriteBuffers": func(c *clientConn) (int64, error) {
			return c.WriteBuffers(slices.Collect(slices.Chunk(content, fileChunk)))
		},
	} {
		for _, reads := range []bool{true, false} {
			client, socket := tcpPair(t)
			full := fullSocket{Conn: socket}
			queue, buffer := newDirectIO(socket), make([]byte, chunk)
			full.read = func() {
				for before := queue.queued(); reads && queue.queued() > max(before-chunk, 0); {
					if _, err := client.Read(buffer); err != nil {
						t.Fatal(err)
					}
				}
			}
			c := &clientConn{Conn: full, deadline: func() time.Time { return time.Now().Add(time.Minute) }}
			n, err := write(c)
			if complete := err == nil && n == int64(len(content)); complete != reads {
				t.Errorf("%s, the client reads %t: %d bytes, %v", name, reads, n, err)
			}
		}
	}
}
