//go:build linux

package main

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// network contains the peers of servers besides clients: the origin, and the ends of tunnels.
type network struct {
	place     place        // with the addresses of the ends
	body      []byte       // of the origin's responses; not modified
	requests  atomic.Int64 // at the origin
	accepted  atomic.Int64 // connections, at all ends
	received  atomic.Int64 // bytes at the sink
	listeners []net.Listener
	mu        sync.Mutex
	conns     map[net.Conn]struct{}
	closed    bool
	silent    atomic.Bool // reads requests without responding
	running   sync.WaitGroup
}

// newNetwork starts the origin, the source and the sink on loopback. The caller must close it.
func newNetwork(ctx context.Context) (*network, error) {
	n := &network{body: makeBody(), conns: map[net.Conn]struct{}{}}
	n.place = place{Host: gatewayHost, Name: namePath, Location: location}
	for _, end := range []struct {
		address *string
		serve   func(net.Conn)
	}{
		{&n.place.Origin, n.origin},
		{&n.place.Source, n.source},
		{&n.place.Sink, n.sink},
	} {
		var err error
		if *end.address, err = n.listen(ctx, "127.0.0.1:0", end.serve); err != nil {
			n.close()
			return nil, err
		}
	}
	n.place.Parents = []string{n.place.Origin}
	return n, nil
}

// newParent starts a separate origin that forward proxies can use as their parent. The caller must close it.
func newParent(ctx context.Context, address string, body []byte) (n *network, err error) {
	n = &network{body: body, conns: map[net.Conn]struct{}{}}
	if n.place.Origin, err = n.listen(ctx, address, n.origin); err != nil {
		return nil, err
	}
	return n, nil
}

// listen serves the connections to an address, and returns the address with its port.
func (n *network) listen(ctx context.Context, address string, serve func(net.Conn)) (string, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp4", address)
	if err != nil {
		return "", err
	}
	n.listeners = append(n.listeners, l)
	n.running.Go(func() { n.accept(l, serve) })
	return l.Addr().String(), nil
}

func (n *network) accept(l net.Listener, serve func(net.Conn)) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		n.accepted.Add(1)
		if !n.add(c) {
			return
		}
		n.running.Go(func() {
			defer n.remove(c)
			serve(c)
		})
	}
}

func (n *network) add(c net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		_ = c.Close()
		return false
	}
	n.conns[c] = struct{}{}
	return true
}

func (n *network) remove(c net.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, c)
	_ = c.Close()
}

func (n *network) close() {
	n.mu.Lock()
	n.closed = true
	for _, l := range n.listeners {
		_ = l.Close() // errors do not matter at the end
	}
	for c := range n.conns {
		_ = c.Close()
	}
	n.mu.Unlock()
	n.running.Wait()
}

// block is the size of a write to a tunnel.
const block = 64 * kibibyte

// source sends until the peer closes.
func (n *network) source(c net.Conn) {
	data := make([]byte, block)
	for {
		if _, err := c.Write(data); err != nil {
			return
		}
	}
}

// sink receives until the peer closes.
func (n *network) sink(c net.Conn) {
	buffer := make([]byte, 4*block)
	for {
		k, err := c.Read(buffer)
		n.received.Add(int64(k))
		if err != nil {
			return
		}
	}
}
