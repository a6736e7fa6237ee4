package adversary

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// canary listens on every address of this machine. No connection may reach it.
type canary struct {
	port     string
	listener net.Listener

	mu   sync.Mutex
	sung []string // first bytes of its connections
}

func newCanary() (*canary, error) {
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		return nil, err
	}
	c := &canary{listener: listener, port: portOf(listener.Addr().String())}
	go c.run()
	return c, nil
}

func (c *canary) run() {
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(time.Second))
			buffer := make([]byte, 512)
			n, _ := conn.Read(buffer)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.sung = append(c.sung, fmt.Sprintf("from %s to %s: %q", conn.RemoteAddr(), conn.LocalAddr(), buffer[:n]))
		}()
	}
}

// heard returns an error if a connection has reached the canary since the last call.
func (c *canary) heard() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sung) == 0 {
		return nil
	}
	err := fmt.Errorf("%d connections reached the canary, the first %s", len(c.sung), c.sung[0])
	c.sung = nil
	return err
}

func (c *canary) close() { c.listener.Close() }
