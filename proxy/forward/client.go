package forward

import (
	"sync"
	"sync/atomic"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// client is the client of one exchange. Interim responses come from a goroutine that reads from the origin: none of them is sent
// behind the final response.
type client struct {
	ResponseWriter
	request *Request
	via     httpmessage.ViaName
	body    *requestBody // nil for none
	ends    atomic.Bool  // the connection ends with the response

	mu       sync.Mutex
	answered bool // the final response begins
}

func (p *Proxy) newClient(w ResponseWriter, r *Request) *client {
	c := &r.passage.client
	c.ResponseWriter, c.request, c.via = w, r, p.config.Via
	if r.hasBody() {
		c.body = &requestBody{body: r.Body, setDeadline: w.SetReadDeadline}
	}
	return c
}

// Interim implements scheme.Interim: it sends an interim response, whose fields are not those of the final one.
func (c *client) Interim(status int, fields httpmessage.Fields) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered {
		return
	}
	fields = httpcache.EndToEnd(fields)
	fields.Add("Via", c.via.String())
	c.WriteInterim(status, fields)
}

// answer begins the final response. By HTTP/1.1 it ends the connection where the body of the request
// has not ended: the server would else read the rest of it first, and take it from who sends it on; and where that of
// the origin ends which belongs to it.
func (c *client) answer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered = true
	isUnread := c.body != nil && !c.body.ended.Load()
	if c.request.Major == 1 && (isUnread || c.ends.Load()) {
		c.CloseBehind()
	}
}

// end ends an exchange: neither its body nor its client is used any more, also where a handler has panicked.
func (c *client) end() {
	c.mu.Lock()
	c.answered = true
	c.mu.Unlock()
	if c.body != nil {
		c.body.release()
	}
}
