package proxy

import (
	"context"
	"io"
	"net"
	"net/http"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/fast"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/route"
)

// inbound is a request as it came, by whichever loop has read it.
type inbound struct {
	source
	method, target, host string
	proto                string // the version of HTTP
	major, minor         int
	remote, local        string // addresses of the connection
	isSecure             bool
	serverName           string // that of the TLS handshake, which matters by HTTP/2 alone; "" for none
	// ask is what is asked, where the loop has classified it; nil where it has not.
	ask *route.Ask
}

// source is the loop that has read a request.
type source interface {
	// message returns the request with its fields and its body, without a target. The fields may be in room.
	message(room httpmessage.Fields) httpmessage.Request
	// ended, isLate, attach, setReason and endEarly are Ended, IsLate, Attach, SetReason and EndEarly of package listen.
	ended() context.Context
	isLate() bool
	attach(newOne func() io.Closer) io.Closer
	setReason(status int, reason string)
	endEarly() bool
}

// isHTTP11 reports whether the client speaks HTTP/1.1 or a later version.
func (in *inbound) isHTTP11() bool { return in.major > 1 || in.major == 1 && in.minor >= 1 }

// fromNetHTTP returns a request that net/http has read.
func fromNetHTTP(r *http.Request) inbound {
	in := inbound{
		source: netHTTP{r}, method: r.Method, target: r.RequestURI, host: r.Host,
		proto: r.Proto, major: r.ProtoMajor, minor: r.ProtoMinor, remote: r.RemoteAddr,
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		in.local = local.String()
	}
	if r.TLS != nil {
		in.isSecure, in.serverName = true, r.TLS.ServerName
	}
	return in
}

// netHTTP is net/http as a source.
type netHTTP struct{ *http.Request }

func (s netHTTP) message(httpmessage.Fields) httpmessage.Request {
	return httpmessage.FromRequest(s.Request)
}

func (s netHTTP) ended() context.Context                   { return listen.Ended(s.Request) }
func (s netHTTP) isLate() bool                             { return listen.IsLate(s.Request) }
func (s netHTTP) attach(newOne func() io.Closer) io.Closer { return listen.Attach(s.Request, newOne) }

func (s netHTTP) setReason(status int, reason string) { listen.SetReason(s.Request, status, reason) }
func (s netHTTP) endEarly() bool                      { return listen.EndEarly(s.Request) }

// plain is a plain request that is served in the goroutine of its connection. It is pooled.
type plain struct {
	request  fast.Request
	ask      route.Ask // of it, where isAsked is set
	isAsked  bool
	response fast.Response
	conn     *listen.FastConn
	body     io.Reader // nil for none
	date     func() []byte
	lines    httpmessage.Lines // of the request, made once
}

func (s *plain) message(room httpmessage.Fields) httpmessage.Request {
	return httpmessage.Request{Method: s.request.Method, Fields: s.request.AppendFields(room), Body: s.body, ContentLength: s.request.Length}
}

func (s *plain) ended() context.Context                   { return s.conn.Ended() }
func (s *plain) isLate() bool                             { return s.body != nil && s.conn.IsLate() }
func (s *plain) attach(newOne func() io.Closer) io.Closer { return s.conn.Attach(newOne) }
func (s *plain) setReason(status int, reason string)      { s.response.SetReason(status, reason) }

func (s *plain) endEarly() bool {
	s.conn.EndEarly()
	return true
}
