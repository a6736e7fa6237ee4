package http

import (
	"github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/lifetime"
	"github.com/urnd/urnd/resolver/scheme"
)

// upgraded is the connection after status 101: RFC 9110 section 7.8.
type upgraded struct{ *exchange }

// switched returns the resource of status 101, whose body is the connection.
func (x *exchange) switched(h http1.ResponseHead) (*scheme.Resource, error) {
	if !x.request.upgrade {
		return nil, errUnrequestedUpgrade
	}
	if x.sender != nil {
		<-x.sender.done // the request must be complete before the protocol changes
	}
	x.endHead()
	return &scheme.Resource{Response: httpmessage.Response{
		Status: h.Status, Reason: h.Reason, Fields: h.Fields, ContentLength: -1, RemoteAddr: x.from, Body: upgraded{x},
	}}, nil
}

// Read implements io.Reader.
func (u upgraded) Read(p []byte) (int, error) {
	n, err := u.in.Read(p)
	return n, u.ending(err)
}

// Write implements io.Writer.
func (u upgraded) Write(p []byte) (int, error) {
	n, err := u.Conn.Write(p)
	return n, u.ending(err)
}

// ending returns the cause of ctx if that has ended, otherwise err.
func (u upgraded) ending(err error) error {
	if err != nil && u.ctx.Err() != nil {
		return lifetime.Cause(u.ctx)
	}
	return err
}

// CloseWrite closes the sending side; reading continues.
func (u upgraded) CloseWrite() error { return closeWrite(u.Conn) }

// Close implements io.Closer.
func (u upgraded) Close() error {
	u.finish(false)
	return nil
}
