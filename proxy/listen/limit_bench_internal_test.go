package listen

import (
	"io"
	"net"
	"testing"
	"time"
)

// BenchmarkRequest is the time of a request on one connection that a limit counts, with both of its sides in this process:
// by the fast path, and by net/http.
func BenchmarkRequest(b *testing.B) {
	for name, request := range map[string]string{"fast": fastRequest, "slow": slowRequest} {
		b.Run(name, func(b *testing.B) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			socket := NewSocket(listener, SocketConfig{
				Limit:         NewConnectionLimit(ConnectionLimits{Connections: 100, ClientConnections: 100}, time.Now),
				WriteDeadline: func() time.Time { return time.Now().Add(time.Minute) },
			})
			s := serveFast(b, func(s *fastServer, _ *ServerConfig) { s.socket, s.listener = socket, listener })
			c := s.dial(b)
			_ = c.SetDeadline(time.Now().Add(time.Hour))
			response := make([]byte, 4096)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := io.WriteString(c.Conn, request); err != nil {
					b.Fatal(err)
				}
				if _, err := c.Read(response); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
