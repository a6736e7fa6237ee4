package listen_test

import (
	"io"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/listen"
)

// BenchmarkRequest measures a request on one connection that a limit counts, with both sides in this process:
// by Read, and by ReadEach.
func BenchmarkRequest(b *testing.B) {
	for name, each := range map[string]bool{"Read": false, "ReadEach": true} {
		b.Run(name, func(b *testing.B) {
			limits := listen.ConnectionLimits{Connections: 100, ClientConnections: 100}
			socket := listen.NewSocket(localListener(b), listen.SocketConfig{
				Limit:         listen.NewConnectionLimit(limits, time.Now),
				WriteDeadline: func() time.Time { return time.Now().Add(time.Minute) },
			})
			b.Cleanup(func() { _ = socket.Close() })
			s := start(b, socket.Listener(), func(config *listen.ServerConfig) {
				config.Serve = func(c *listen.Conn) {
					p := make([]byte, 4<<10)
					answer := func(n int) bool {
						if !c.SetServing() {
							return false
						}
						_, err := c.Write(p[:n])
						c.SetIdle()
						return err == nil
					}
					_ = c.SetReadDeadline(time.Now().Add(time.Hour))
					for more := true; more && !each; {
						n, err := c.Read(p)
						more = err == nil && answer(n)
					}
					if each {
						_ = c.ReadEach(p, answer)
					}
				}
			})
			c := call(b, s.addr, "127.0.0.1")
			_ = c.SetDeadline(time.Now().Add(time.Hour))
			request, response := make([]byte, 100), make([]byte, 100)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Write(request); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(c.Conn, response); err != nil {
					b.Fatal(err)
				}
			}
			c.Close()
		})
	}
}
