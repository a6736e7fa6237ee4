package proxy

import (
	"io"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
)

// oneClient is what is kept, until its end, with a connection by which requests of one client alone come. Continuations of
// the connection use it one after the other.
type oneClient struct {
	servers forward.Session
	login   *gate.Login // by Negotiate; nil before it is needed
}

// Close implements io.Closer.
func (c *oneClient) Close() error {
	c.login.Close()
	return c.servers.Close()
}

// oneClient returns what is kept with the connection that the request came by, nil where requests of several clients may
// come by it: by HTTP/2, whose streams a proxy may take from anywhere, and from a proxy in front, which says so or is
// known. Behind a socket in the file system there is one, too.
func (x *exchange) oneClient() *oneClient {
	isFront := !x.hasAddr || x.client.Relayed || x.lines.Has(httpmessage.ViaField) || x.place.IsFronted
	if isFront {
		return nil
	}
	c, _ := x.Attach(func() io.Closer { return new(oneClient) }).(*oneClient)
	return c
}

// session returns the connections to servers that belong to that of the client, nil where it has none.
func (x *exchange) session() *forward.Session {
	if c := x.oneClient(); c != nil {
		return &c.servers
	}
	return nil
}

// login returns who has logged in by the connection, nil where nobody can: RFC 9110 section 3.3 lets a request be that of
// the user before only where the connection is known to have one client. A front that sends the PROXY protocol may have
// several.
func (x *exchange) login() *gate.Login {
	h := x.handler
	if h.config.Access.Negotiate == nil || !h.gate.Waits(&x.client, &x.ask) || x.in.Conn.Proxied() {
		return nil
	}
	c := x.oneClient()
	if c == nil {
		return nil
	}
	if c.login == nil {
		c.login = new(gate.Login)
	}
	return c.login
}

// prove sends the client what proves that it has logged in to the proxy that it means (RFC 4559 section 4.1, as Squid
// does). Where a tunnel is opened, nothing is sent, as by Squid.
func (x *exchange) prove() {
	if proof := x.client.Login.Proof(); proof != "" {
		x.fields.Set("Proxy-Authentication-Info", "Negotiate "+proof)
	}
}
