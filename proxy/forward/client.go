package forward

import (
	"net/http"
	"sync"
	"sync/atomic"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// client is the client of one exchange. Interim responses, and the permission to send a body, come
// from goroutines that read from the origin and from the client: they are sent one after the other,
// and none of them behind the final response.
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
		c.body = &requestBody{client: c, body: r.Body, control: http.NewResponseController(w), expects: expects(r)}
		if r.Major == 2 {
			c.body.deadline = p.bodyDeadline
		}
	}
	return c
}

// Interim implements scheme.Interim: it sends an interim response, whose fields are not those of the final one. A client of
// HTTP/1.0 knows none: RFC 9110 section 15.2.
func (c *client) Interim(status int, fields httpmessage.Fields) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered || !c.request.isAtLeast11() {
		return
	}
	header := c.Header()
	before := header.Clone()
	clear(header)
	httpcache.EndToEnd(fields).CopyTo(header)
	header["Via"] = append(header["Via"], c.via.String())
	c.WriteHeader(status)
	clear(header)
	for name, lines := range before {
		header[name] = lines
	}
}

// proceed lets the client send its body, where that is waiting, and reports whether it is still of
// use: RFC 9110 section 10.1.1.
func (c *client) proceed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.answered {
		header := c.Header()
		before := header.Clone()
		clear(header)
		c.WriteHeader(http.StatusContinue)
		for name, lines := range before {
			header[name] = lines
		}
	}
	return !c.answered
}

// answer begins the final response. By HTTP/1.1 it ends the connection where the body of the request
// has not ended: net/http would else read the rest of it first, and take it from who sends it on; and where that of
// the server ends which belongs to it.
func (c *client) answer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered = true
	isUnread := c.body != nil && !c.body.ended.Load()
	if c.request.Major == 1 && (isUnread || c.ends.Load()) {
		c.Header()["Connection"] = []string{"close"}
	}
}

// end ends an exchange, whose body is no longer read.
func (c *client) end() {
	if c.body != nil {
		c.body.release()
	}
}

// expects reports whether a request waits with its body for 100 (Continue).
func expects(r *Request) bool {
	return r.Major == 1 && r.isAtLeast11() && httpguts.HeaderValuesContainsToken(r.Fields.Lines("Expect"), "100-continue")
}
