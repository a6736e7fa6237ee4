package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/listen"
)

// UnixPrefix begins the address of a socket in the file system.
const UnixPrefix = "unix:"

// Endpoint is an address with the configuration of its server.
type Endpoint struct {
	Name    string // also that of sockets of systemd; endpoints of one name have the same handler
	Address string // "host:port", or UnixPrefix and a path; "" where systemd has opened it
	// Handler answers the requests of clients, and Admin those of administrators: an endpoint has one of them.
	Handler httpmessage.Handler
	Admin   http.Handler
	// Protocol returns what serves the connections of the server.
	Protocol func(Current) Protocol
	// Setting is what names the address, for the error of listening there; "" is nothing.
	Setting string
	// Server is the configuration of the server. The daemon sets Serve, Log and DaemonContext.
	Server listen.ServerConfig
	// Settings is a comparable value: the server is replaced when it changes.
	Settings any
	// Administration is whether the endpoint is for administrators: it is exempt from
	// connection limits, and closed after the others.
	Administration bool
}

// Protocol serves the connections of a server.
type Protocol interface {
	Serve(c *listen.Conn) // see listen.ServerConfig
	Close()               // is called once, when all calls of Serve have returned, and waits for its goroutines
}

// server is a server of an endpoint, and what serves its connections.
type server struct {
	*listen.Server
	protocol Protocol
}

// Current is what the protocols of an endpoint use of the generation in force, whichever that is.
type Current struct {
	Handler httpmessage.Handler
	Admin   http.Handler
	// WriteDeadline returns the deadline by which a client must read the next chunk of a response.
	WriteDeadline func() time.Time
}

// endpoint is an open address and its current server.
type endpoint struct {
	spec Endpoint
	// inherited is whether systemd has opened the sockets: connections that are not accepted wait
	// there for the next process.
	inherited bool
	server    *server        // the current one; nil before the first
	waiting   []net.Listener // not accepted from yet
	sockets   []*listen.Socket
	stop      context.CancelFunc // of the server
	ended     chan struct{}      // closed when the server and its predecessors have ended
}

// open listens on the address of a specification.
func open(ctx context.Context, spec Endpoint) ([]net.Listener, error) {
	path, isSocket := strings.CutPrefix(spec.Address, UnixPrefix)
	network, address := "tcp", spec.Address
	if isSocket {
		network, address = "unix", path
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 && !netguard.Listens(ctx, path) {
			_ = os.Remove(path) // a process that was killed has left it
		}
	}
	config := listenConfig()
	listener, err := config.Listen(ctx, network, address)
	if err != nil {
		return nil, refused(spec.Setting, fmt.Errorf("listening for %s: %w", spec.Name, err))
	}
	if isSocket {
		const ownerAndGroup = 0o660
		if err := os.Chmod(path, ownerAndGroup); err != nil {
			return nil, errors.Join(fmt.Errorf("listening for %s: %w", spec.Name, err), listener.Close())
		}
	}
	return []net.Listener{listener}, nil
}

// refused adds the setting of an address, and what helps, to the error of listening there.
func refused(setting string, err error) error {
	if setting != "" {
		err = fmt.Errorf("%s: %w", setting, err)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: ports below 1024 are opened by systemd (urnd.socket and urnd-https.socket), "+
			"or need CAP_NET_BIND_SERVICE", err)
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%w: another process listens there, perhaps another urnd; "+
			"if it is this one, at an address that is changed, restart it", err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%w: it is no address of this machine", err)
	default:
		return err
	}
}

// accept starts to accept connections on waiting listeners.
func (e *endpoint) accept(config listen.SocketConfig) {
	for _, listener := range e.waiting {
		e.sockets = append(e.sockets, listen.NewSocket(listener, config))
	}
	e.waiting = nil
}

// serve replaces the server, and returns a function that waits for the end of the new one.
// failed is called with its error, and whether its end was requested.
func (e *endpoint) serve(ctx context.Context, server *server, failed func(err error, requested bool)) func() {
	e.server = server
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
		server.protocol.Close()
		if endedBefore != nil {
			<-endedBefore
		}
	}
}

// addresses returns the addresses of the sockets, separated by commas.
func (e *endpoint) addresses() string {
	var all []string
	for _, s := range e.sockets {
		all = append(all, s.Addr().String())
	}
	return strings.Join(all, ", ")
}

// drain stops accepting: the address is free then.
func (e *endpoint) drain() {
	for _, s := range e.sockets {
		s.Drain()
	}
}

// announce asks clients to close their connections, and returns when none is left, or when ctx
// ends. New ones are served meanwhile, unless another process will.
func (e *endpoint) announce(ctx context.Context) {
	if e.inherited {
		e.drain()
	}
	if e.server != nil {
		e.server.Announce(ctx)
	}
}

// close closes an endpoint after its running requests have ended.
func (e *endpoint) close() {
	e.drain()
	if e.stop != nil {
		e.stop()
		<-e.ended
	}
	for _, s := range e.sockets {
		_ = s.Close() // the endpoint is drained already
	}
}

// URLs returns the URLs of a service, to be opened in a browser: of its addresses by http and by https, each joined by
// commas.
func URLs(http, https string) string {
	var urls []string
	for _, of := range []struct{ scheme, addresses string }{{"http", http}, {"https", https}} {
		for address := range strings.SplitSeq(of.addresses, ", ") {
			if _, _, err := net.SplitHostPort(address); err == nil {
				urls = append(urls, of.scheme+"://"+address+"/")
			}
		}
	}
	return strings.Join(urls, " ")
}
