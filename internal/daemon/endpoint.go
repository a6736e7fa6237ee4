package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/listen"
)

// UnixPrefix begins the address of a socket in the file system.
const UnixPrefix = "unix:"

// Endpoint is an address, and the server that is to answer there.
type Endpoint struct {
	Name    string // tells it from others; sockets of systemd have it, too
	Address string // "host:port", or UnixPrefix and a path; "" where systemd has opened it
	Handler http.Handler
	// Server is all that the daemon does not know itself.
	Server listen.ServerConfig
	// Settings decide on the server: it is replaced by another one when they change. They
	// must be comparable.
	Settings any
	// Administration is that it must be reached when clients are too many, and ends after
	// the others.
	Administration bool
}

// endpoint is an address that is listened on, and the server that answers there.
type endpoint struct {
	spec    Endpoint
	waiting []net.Listener // that are not accepted from yet
	sockets []*listen.Socket
	stop    context.CancelFunc // of the server
	ended   chan struct{}      // closed when the server, and those before it, have ended
}

// open listens as a specification says.
func open(ctx context.Context, spec Endpoint) ([]net.Listener, error) {
	path, isSocket := strings.CutPrefix(spec.Address, UnixPrefix)
	network, address := "tcp", spec.Address
	if isSocket {
		network, address = "unix", path
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 && !netguard.Listens(ctx, path) {
			_ = os.Remove(path) // of one that was killed
		}
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("listening for %s: %w", spec.Name, err)
	}
	if isSocket {
		const ownerAndGroup = 0o660
		if err := os.Chmod(path, ownerAndGroup); err != nil {
			return nil, errors.Join(fmt.Errorf("listening for %s: %w", spec.Name, err), listener.Close())
		}
	}
	return []net.Listener{listener}, nil
}

// accept begins to accept connections, if it has not.
func (e *endpoint) accept(config listen.SocketConfig) {
	for _, listener := range e.waiting {
		e.sockets = append(e.sockets, listen.NewSocket(listener, config))
	}
	e.waiting = nil
}

// serve puts a server in the place of the one before it, and returns a function that
// waits for its end. failed is called with an error at its end, and whether that was asked
// for.
func (e *endpoint) serve(ctx context.Context, server *listen.Server, failed func(err error, requested bool)) func() {
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
			failed(err, ctx.Err() != nil)
		}
		if endedBefore != nil {
			<-endedBefore
		}
	}
}

// addresses returns those that are listened on.
func (e *endpoint) addresses() string {
	var all []string
	for _, s := range e.sockets {
		all = append(all, s.Addr().String())
	}
	return strings.Join(all, ", ")
}

// drain stops accepting: from then on the address is free.
func (e *endpoint) drain() {
	for _, s := range e.sockets {
		s.Drain()
	}
}

// close ends an endpoint: requests that came in are answered.
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
