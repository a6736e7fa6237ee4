package netguard

import (
	"context"
	"net"
	"time"
)

// Patient returns a dial function like DialContext, of connections that end when
// nothing comes for so long that somebody waits in vain: idle.
func (g *Guard) Patient(idle time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := g.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return patient{conn, idle}, nil
	}
}

type patient struct {
	net.Conn
	idle time.Duration
}

func (p patient) Read(b []byte) (int, error) {
	if err := p.SetReadDeadline(time.Now().Add(p.idle)); err != nil {
		return 0, err
	}
	return p.Conn.Read(b)
}
