package listen

import (
	"errors"
	"net"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// Where a connection is closed in the middle of an answer, nothing waits for net/http to end a read any longer.
func TestCloseEndsTheWatch(t *testing.T) {
	client, server := net.Pipe()
	t.Cleanup(func() { client.Close() })
	c := &requestConn{Conn: server, hasWatched: true}
	ended := make(chan error, 1)
	go func() {
		_, err := c.watch(make([]byte, 1))
		ended <- err
	}()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	testserver.Within(t, "the watch", func() {
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}
