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

// UnixPrefix is the prefix of the address of a Unix domain socket.
const UnixPrefix = "unix:"

// Endpoint is a listening address and the configuration of its server.
type Endpoint struct {
	Name    string // also the name of systemd sockets; endpoints of one name share a handler
	Address string // "host:port", or UnixPrefix and a path; "" if opened by systemd
	// Handler serves the requests of clients, Admin those of administrators. Exactly one of them is set.
	Handler httpmessage.Handler
	Admin   http.Handler
	// Protocol returns the protocol implementation for connections of the server.
	Protocol func(CurrentHandlers) Protocol
	// Setting is the configuration setting of the address, which prefixes listen errors; "" for none.
	Setting string
	// Server configures the server, which may outlive its generation. The daemon sets Serve and DaemonContext.
	Server listen.ServerConfig
	// Settings is a comparable value. The server is replaced when it changes.
	Settings any
	// Administration marks an endpoint for administrators: it is exempt from connection limits, and closed
	// after the others.
	Administration bool
}

// Protocol serves the connections of a server.
type Protocol interface {
	Serve(c *listen.Conn) // see listen.ServerConfig
	Close()               // called once after all calls of Serve have returned; waits for its goroutines
}

// server is the server of an endpoint with its protocol implementation.
type server struct {
	*listen.Server
	protocol Protocol
}

// CurrentHandlers gives the protocol of an endpoint access to the current generation at the time of each call.
type CurrentHandlers struct {
	Handler httpmessage.Handler
	Admin   http.Handler
	// WriteDeadline returns the time by which a client must read the next chunk of a response.
	WriteDeadline func() time.Time
}

// endpoint is an open address and its current server.
type endpoint struct {
	spec Endpoint
	// inherited is set if systemd has opened the sockets: connections that are not accepted wait there for the
	// next process.
	inherited bool
	server    *server        // current server; nil before the first
	waiting   []net.Listener // listeners that do not accept connections yet
	sockets   []*listen.Socket
	listeners []net.Listener     // those of server
	stop      context.CancelFunc // stops the server
	ended     chan struct{}      // closed when the server and its predecessors have ended
}

// open listens on the address of spec.
func open(ctx context.Context, spec Endpoint) ([]net.Listener, error) {
	path, isSocket := strings.CutPrefix(spec.Address, UnixPrefix)
	network, address := "tcp", spec.Address
	if isSocket {
		network, address = "unix", path
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 && !netguard.Listens(ctx, path) {
			_ = os.Remove(path) // left over from a killed process
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

// refused adds the name of the setting and a hint to a listen error.
func refused(setting string, err error) error {
	if setting != "" {
		err = fmt.Errorf("%s: %w", setting, err)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: ports below 1024 require systemd sockets (urnd.socket and urnd-https.socket), or "+
			"CAP_NET_BIND_SERVICE", err)
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%w: another process, perhaps another instance of urnd, uses the address; if it is this "+
			"one, with a changed "+
			"address, restart it", err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%w: no interface of this machine has this address", err)
	default:
		return err
	}
}

// accept starts to accept connections on the waiting listeners.
func (e *endpoint) accept(config listen.SocketConfig) {
	for _, listener := range e.waiting {
		e.sockets = append(e.sockets, listen.NewSocket(listener, config))
	}
	e.waiting = nil
}

// serve replaces the server, and returns a function that waits for the end of the new one. failed is called
// with its error, and with whether its end was requested.
func (e *endpoint) serve(ctx context.Context, server *server, failed func(err error, requested bool)) func() {
	e.server = server
	stopBefore, endedBefore, listenersBefore := e.stop, e.ended, e.listeners
	e.listeners = nil
	ctx, e.stop = context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	e.ended = ended
	var group errgroup.Group
	for _, socket := range e.sockets {
		listener := socket.Listener()
		e.listeners = append(e.listeners, listener)
		group.Go(func() error { return server.Serve(ctx, listener) })
	}
	if stopBefore != nil {
		stopBefore()
	}
	// A connection that is accepted after this call must not be served by the settings before, such as a removed
	// client_ca, so their end is not left to the other goroutine.
	for _, listener := range listenersBefore {
		_ = listener.Close()
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

// drain stops accepting connections and frees the address.
func (e *endpoint) drain() {
	for _, s := range e.sockets {
		s.Drain()
	}
}

// announce asks clients to close their connections, and returns when all are closed or ctx ends. New
// connections are accepted meanwhile, except on inherited sockets, whose new connections wait for the next
// process.
func (e *endpoint) announce(ctx context.Context) {
	if e.inherited {
		e.drain()
	}
	if e.server != nil {
		e.server.AnnounceShutdown(ctx)
	}
}

// close closes the endpoint after its running requests have ended.
func (e *endpoint) close() {
	e.drain()
	if e.stop != nil {
		e.stop()
		<-e.ended
	}
	for _, s := range e.sockets {
		_ = s.Close() // already drained
	}
}

// URLs returns the URLs of a service to open in a browser, separated by spaces. http and https are the
// comma-separated addresses of its endpoints.
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
