package proxy

import (
	"io"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
)

// connectionState is the state of a connection that carries the requests of exactly one client. It lives as long as
// the connection; Continuations of the connection use it one after the other.
type connectionState struct {
	servers forward.Session
	login   *gate.Login // a login by Negotiate; nil before the first
}

// Close implements io.Closer.
func (c *connectionState) Close() error {
	c.login.Close()
	return c.servers.Close()
}

// connectionState returns the state of the request's connection, nil if the connection may carry requests of
// several clients: HTTP/2, whose streams a proxy may collect from many clients, a proxy in front that is
// known or recognized by its fields, and a Unix domain socket, which only a front end uses.
func (x *exchange) connectionState() *connectionState {
	isFront := !x.hasAddr || x.client.Relayed || x.header.Has(httpmessage.ViaField) || x.endpoint.BehindProxy
	if isFront {
		return nil
	}
	c, _ := x.Attach(func() io.Closer { return new(connectionState) }).(*connectionState)
	return c
}

// session returns the connections to servers that are bound to the connection of the client, nil for none.
func (x *exchange) session() *forward.Session {
	if c := x.connectionState(); c != nil {
		return &c.servers
	}
	return nil
}

// login returns the login of the connection, nil if it cannot have one: RFC 9110 section 3.3 allows to
// attribute a request to the user of an earlier one only if the connection is known to have one client. A
// front end that sends the PROXY protocol may have several.
func (x *exchange) login() *gate.Login {
	h := x.handler
	if h.config.Access.Negotiate == nil || !h.gate.Waits(&x.client, &x.request) || x.in.Conn.Proxied() {
		return nil
	}
	c := x.connectionState()
	if c == nil {
		return nil
	}
	if c.login == nil {
		c.login = new(gate.Login)
	}
	return c.login
}

// prove sends the client the proof that it has logged in to the intended proxy (RFC 4559 section 4.1), as
// Squid does. The response that opens a tunnel has none, also as with Squid.
func (x *exchange) prove() {
	if proof := x.client.Login.Proof(); proof != "" {
		x.fields.Set("Proxy-Authentication-Info", "Negotiate "+proof)
	}
}
