package daemon

import (
	"context"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/urnd/urnd/proxy/listen"
)

// change is a new set of endpoints: existing ones, with or without a new server, and new ones. Endpoints that
// are not in it are closed.
type change struct {
	endpoints []*endpoint
	specs     []Endpoint
	servers   []*server // nil keeps the current server
}

// prepare opens the new endpoints of a generation. After an error nothing has changed.
func (d *Daemon) prepare(ctx context.Context, g *Generation) (change, error) {
	c := change{specs: g.Endpoints}
	for _, spec := range g.Endpoints {
		e := d.endpointAt(spec)
		if e != nil && e.spec.Settings == spec.Settings {
			c.endpoints, c.servers = append(c.endpoints, e), append(c.servers, nil)
			continue
		}
		if e == nil {
			var err error
			if e, err = d.newEndpoint(ctx, spec); err != nil {
				c.abandon()
				return change{}, err
			}
		}
		c.endpoints, c.servers = append(c.endpoints, e), append(c.servers, d.newServer(spec))
	}
	return c, nil
}

// newEndpoint opens the sockets of an endpoint, or takes over those inherited from systemd.
func (d *Daemon) newEndpoint(ctx context.Context, spec Endpoint) (*endpoint, error) {
	if sockets := d.config.Inherited[spec.Name]; len(sockets) > 0 {
		return &endpoint{waiting: sockets, inherited: true}, nil
	}
	sockets, err := open(ctx, spec)
	return &endpoint{waiting: sockets}, err
}

// newServer returns a server whose requests are handled by the current generation.
func (d *Daemon) newServer(spec Endpoint) *server {
	config := spec.Server
	to := endpointHandler{&d.current, spec.Name}
	protocol := spec.Protocol(CurrentHandlers{
		Handler: to, Admin: http.HandlerFunc(to.serveAdmin),
		WriteDeadline: d.writeDeadline,
	})
	config.Serve = func(c *listen.Conn) {
		if c.IsProbe() {
			c.AnswerProbe(d.current.probe)
			return
		}
		protocol.Serve(c)
	}
	config.DaemonContext = d.ctx
	return &server{listen.NewServer(config), protocol}
}

// abandon closes the sockets opened for the change.
func (c change) abandon() {
	for _, e := range c.endpoints {
		for _, listener := range e.waiting {
			_ = listener.Close()
		}
	}
}

// addresses returns the addresses of all sockets.
func (c change) addresses() []net.Addr {
	var all []net.Addr
	for _, e := range c.endpoints {
		for _, listener := range e.waiting {
			all = append(all, listener.Addr())
		}
		for _, socket := range e.sockets {
			all = append(all, socket.Addr())
		}
	}
	return all
}

// endpointAt returns the endpoint with the same name and address, or nil.
func (d *Daemon) endpointAt(spec Endpoint) *endpoint {
	for _, e := range d.endpoints {
		if e.spec.Name == spec.Name && e.spec.Address == spec.Address {
			return e
		}
	}
	return nil
}

// apply carries out the change.
func (d *Daemon) apply(ctx context.Context, c change) {
	if d.config.Listening != nil {
		d.config.Listening(c.addresses())
	}
	for i, e := range c.endpoints {
		if c.servers[i] == nil {
			continue
		}
		e.spec = c.specs[i]
		e.accept(d.socketConfig(e.spec))
		d.background.Go(e.serve(ctx, c.servers[i], d.serverEnded))
	}
	for _, e := range d.endpoints {
		if !slices.Contains(c.endpoints, e) {
			e.drain() // frees its address
			d.background.Go(e.close)
		}
	}
	d.endpoints = c.endpoints
}

func (d *Daemon) socketConfig(spec Endpoint) listen.SocketConfig {
	config := listen.SocketConfig{
		Limit: d.connections, Rejected: d.config.Refused, WriteDeadline: d.writeDeadline,
		Failed: func(err error) {
			d.log().Warn("accepting connections failed", "endpoint", spec.Name, "error", err)
		},
	}
	if spec.Server.TLS == nil {
		config.TooManyConnections = d.config.TooManyResponse
	}
	if spec.Administration {
		config.Limit = nil
	}
	return config
}

// serverEnded is called when a server ends with an error. If the end was requested, some requests exceeded the
// shutdown timeout; otherwise the daemon ends.
func (d *Daemon) serverEnded(err error, requested bool) {
	if requested {
		d.log().Warn("shutdown timeout reached, active requests aborted", "error", err)
		return
	}
	select {
	case d.failed <- err:
	default: // another server has already failed
	}
}

// writeDeadline returns the time by which a client must read the next chunk of a response.
func (d *Daemon) writeDeadline() time.Time {
	g := d.current.acquire()
	defer g.done()
	return d.config.Deadline(g.WriteTimeout)
}
