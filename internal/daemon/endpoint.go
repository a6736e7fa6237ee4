package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy"
)

// endpoint is an address that is listened on, and the server that answers there.
type endpoint struct {
	plan    plan
	waiting []net.Listener // that are not accepted from yet
	sockets []*proxy.Socket
	stop    context.CancelFunc // of the server
	ended   chan struct{}      // closed when the server, and those before it, have ended
}

// open listens as a plan says.
func open(ctx context.Context, p plan) ([]net.Listener, error) {
	path, isSocket := strings.CutPrefix(p.address, config.UnixPrefix)
	network, address := "tcp", p.address
	if isSocket {
		network, address = "unix", path
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 && !netguard.Listens(ctx, path) {
			_ = os.Remove(path) // of one that was killed
		}
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("listening for %s: %w", p.name, err)
	}
	if isSocket {
		const ownerAndGroup = 0o660
		if err := os.Chmod(path, ownerAndGroup); err != nil {
			return nil, errors.Join(fmt.Errorf("listening for %s: %w", p.name, err), listener.Close())
		}
	}
	return []net.Listener{listener}, nil
}

// accept begins to accept connections, if it has not.
func (e *endpoint) accept(c proxy.SocketConfig) {
	c.Plain = e.plan.settings.tls == config.TLS{}
	if e.plan.name == nameAdmin { // it must be reached when clients are too many
		c.Gate = nil
	}
	for _, listener := range e.waiting {
		e.sockets = append(e.sockets, proxy.NewSocket(listener, c))
	}
	e.waiting = nil
}

// serve puts a server in the place of the one before it, and returns what waits for its
// end. told hears why it ended, and whether that was asked for.
func (e *endpoint) serve(ctx context.Context, server *proxy.Server, told func(err error, asked bool)) func() {
	stopBefore, endedBefore := e.stop, e.ended
	ctx, e.stop = context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	e.ended = ended
	var group errgroup.Group
	for _, socket := range e.sockets {
		listener := socket.Listen()
		group.Go(func() error { return server.Serve(ctx, listener) })
	}
	if stopBefore != nil {
		stopBefore()
	}
	return func() {
		defer close(ended)
		if err := group.Wait(); err != nil {
			told(err, ctx.Err() != nil)
		}
		if endedBefore != nil {
			<-endedBefore
		}
	}
}

// addresses are those that are listened on.
func (e *endpoint) addresses() string {
	var all []string
	for _, s := range e.sockets {
		all = append(all, s.Addr().String())
	}
	return strings.Join(all, ", ")
}

// drain stops to accept: from then on the address is free.
func (e *endpoint) drain() {
	for _, s := range e.sockets {
		s.Drain()
	}
}

// close ends an endpoint: what came in is answered.
func (e *endpoint) close() {
	e.drain()
	if e.stop != nil {
		e.stop()
		<-e.ended
	}
	for _, s := range e.sockets {
		_ = s.Close() // nothing more is to be done about it
	}
}
