package testserver

import (
	"fmt"
	"net"
	"net/netip"
	"time"
)

// prober queries a DNS server over UDP from one port, which it holds until close: the
// port distinguishes its queries from those of a test in the server's log.
type prober struct {
	conn   *net.UDPConn
	server netip.AddrPort
	id     uint16        // of the last query
	wait   time.Duration // for a response
}

const (
	shortestWait = 10 * time.Millisecond
	longestWait  = time.Second
)

func newProber(server netip.AddrPort) (*prober, error) {
	conn, err := listenLoopback()
	if err != nil {
		return nil, fmt.Errorf("probe %s: %w", server, err)
	}
	return &prober{conn: conn, server: server, wait: shortestWait}, nil
}

func (p *prober) port() uint16 {
	return p.conn.LocalAddr().(*net.UDPAddr).AddrPort().Port()
}

func (p *prober) close() error {
	return p.conn.Close()
}

// query sends one query and waits a short time for the response. If none comes, the
// error is os.ErrDeadlineExceeded, and the next call waits longer.
func (p *prober) query(name string, qtype uint16) ([]byte, error) {
	p.id++
	query, err := packQuery(p.id, name, qtype)
	if err != nil {
		return nil, err
	}
	if err := p.conn.SetDeadline(time.Now().Add(p.wait)); err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	if _, err := p.conn.WriteToUDPAddrPort(query, p.server); err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	buffer := make([]byte, 4096)
	for {
		n, _, err := p.conn.ReadFromUDPAddrPort(buffer)
		if err != nil {
			p.wait = min(2*p.wait, longestWait)
			return nil, fmt.Errorf("probe: %w", err)
		}
		// A response to an earlier query may come late.
		if isResponse(buffer[:n], p.id) {
			return buffer[:n], nil
		}
	}
}
