package forward

import (
	"sync"
	"sync/atomic"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// client is the client of one exchange. Interim responses come from a goroutine that reads from the origin:
// none of them must be sent after the final response.
type client struct {
	ResponseWriter
	request *Request
	via     httpmessage.ViaName
	body    *requestBody // nil for none
	ends    atomic.Bool  // the connection closes after the response

	mu       sync.Mutex
	answered bool // the final response has begun
}

func (p *Proxy) newClient(w ResponseWriter, r *Request) *client {
	c := &r.state.client
	c.ResponseWriter, c.request, c.via = w, r, p.config.Via
	if r.hasBody() {
		c.body = &requestBody{body: r.Body, setDeadline: w.SetReadDeadline, trailer: r.Trailer}
		if r.Trailer != nil {
			c.body.isPassed = func(f httpmessage.Field) bool { return p.passesInTrailer(r, f.Name) }
		}
	}
	return c
}

// Interim implements scheme.Interim: it forwards an interim response, whose fields are not part of the final one.
func (c *client) Interim(status int, fields httpmessage.Fields) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered {
		return
	}
	fields = httpcache.EndToEnd(fields)
	if c.request.isGateway() {
		fields = c.request.Site.Response.withoutEdited(fields)
	}
	fields.Add("Via", c.via.String())
	c.WriteInterim(status, fields)
}

// answer begins the final response. By HTTP/1.1 it closes the connection if the request body is incomplete,
// since the server would otherwise read the rest first, concurrently with the transport that forwards it; and
// if the origin's bound connection closes.
func (c *client) answer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered = true
	unread := c.body != nil && !c.body.ended.Load()
	if c.request.Major == 1 && (unread || c.ends.Load()) {
		c.CloseAfterResponse()
	}
}

// end ends an exchange, also after a panic of a handler: neither its body nor its client is used afterwards.
func (c *client) end() {
	c.mu.Lock()
	c.answered = true
	c.mu.Unlock()
	if c.body != nil {
		c.body.release()
	}
}
