package proxy

import (
	"strings"

	"github.com/urnd/urnd/proxy/compress"
	"github.com/urnd/urnd/proxy/message"
)

// newSiteHeader returns the values of a header field of a request for a site, as they select its response:
// those that forward.Proxy.Serve would send. It is an httpmessage.Header.
func (x *exchange) newSiteHeader(name string) []string {
	if name == "Accept-Encoding" {
		return x.encoding
	}
	return x.header.Values(name)
}

// ofSite reports whether a request is for a site that urnd is the gateway of: by the host of the site, or
// through the forward proxy.
func (x *exchange) ofSite() bool {
	at, _ := x.handler.server.Sites.Find(x.request.Key, x.request.Spelling)
	return x.request.Site != nil || at != nil
}

// coding returns the content coding of a reply, "" for none, and adds Accept-Encoding to Vary if that selected it. A
// stream is never encoded: that of a resource is forwarded as it came, and that of a batch is sent line by line.
func (x *exchange) coding(r *message.Reply) string {
	c := x.handler.config.Compress
	if c == nil || r.Stream != nil || r.Fields.Has("Content-Encoding") {
		return ""
	}
	coding, varies := c.Document(x.header, r.Status, r.ContentType, len(r.Body))
	switch {
	case !varies, strings.Contains(r.Vary, "Accept-Encoding"):
	case r.Vary == "":
		r.Vary = "Accept-Encoding"
	default:
		r.Vary += ", Accept-Encoding"
	}
	return coding
}

// compress encodes the body of a reply, unless that makes it larger.
func (x *exchange) compress(r *message.Reply, coding string) {
	body, ok := x.handler.config.Compress.Compress(coding, r.Body)
	if !ok {
		return
	}
	r.Body, r.Fields = body, r.Fields.Clone()
	compress.SetCoding(&r.Fields, coding)
}
