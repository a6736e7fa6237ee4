package forward

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
)

// upgrade forwards a request to switch the protocol (RFC 9110 section 7.8). If the origin agrees, the
// connection becomes a tunnel.
func (p *Proxy) upgrade(
	ctx context.Context, w ResponseWriter, r *Request, fields httpmessage.Fields, protocol string,
) error {
	fields.Set("Connection", "Upgrade")
	fields.Set("Upgrade", protocol)
	key := ""
	if r.Protocol != "" {
		key = newWebSocketKey()
		fields.Set(webSocketKey, key)
	}
	permit, err := p.config.Fetches.Acquire(r.QuotaAddr)
	if err != nil {
		return err
	}
	leave := sync.OnceFunc(permit.Release)
	defer leave()
	c := p.newClient(w, r)
	defer c.end()
	requested := httpcache.Outgoing{Request: r.Request}
	requested.Fields = fields
	resource, pick, err := p.fetchOf(ctx, c, r, requested)
	c.answer()
	if err != nil {
		return bodyTimeoutError(c, err)
	}
	defer pick.Release()
	defer func() { _ = resource.Body.Close() }()
	if resource.Status != http.StatusSwitchingProtocols {
		response := &resource.Response
		if r.Protocol != "" && response.Status/100 == 2 { // by HTTP/2 it would mean that the protocol was switched
			return errUnchanged
		}
		answer, err := challenging(r, &httpcache.Response{
			Status: response.Status, Reason: response.Reason, Fields: httpcache.EndToEnd(response.Fields),
			Trailer: response.Trailer, ContentLength: response.ContentLength, ServerAddr: response.RemoteAddr,
			Content: httpcache.Live(response), Outcome: httpcache.Outcome{Forwarded: "bypass"},
		})
		if err != nil {
			return err
		}
		p.send(ctx, w, r, answer)
		return nil
	}
	if key != "" && resource.Fields.Get(webSocketAccept) != acceptOf(key) {
		return errAccept
	}
	server, ok := resource.Body.(io.ReadWriteCloser)
	if !ok {
		return errNoStream
	}
	stream, err := p.config.Streams.Acquire(r.QuotaAddr)
	if err != nil {
		return err
	}
	defer stream.Release()
	w.SetServer(resource.RemoteAddr)
	leave() // from here on it counts as a stream
	if r.Protocol != "" {
		return p.switchStream(ctx, w, resource.Fields, server)
	}
	return p.switchProtocols(ctx, w, resource.Fields, server)
}

var errNoStream = fmt.Errorf("%w: protocol upgrade on a connection that cannot be hijacked", resolver.ErrUnreachable)

// switchProtocols forwards the 101 response of the origin, and carries the data of both sides.
func (p *Proxy) switchProtocols(
	ctx context.Context, w ResponseWriter, agreed httpmessage.Fields, server io.ReadWriteCloser,
) error {
	client, early, err := w.Hijack()
	if err != nil {
		return fmt.Errorf("hijacking the client connection: %w", err)
	}
	fields := httpcache.EndToEnd(agreed)
	fields.Add("Connection", "Upgrade")
	for _, protocol := range agreed.Values("Upgrade") {
		fields.Add("Upgrade", protocol)
	}
	fields.Add("Via", p.config.Via.String())
	head := append(http1.AppendFields(http1.AppendStatusLine(nil, http.StatusSwitchingProtocols, ""), fields),
		"\r\n"...)
	if _, err := client.Write(head); err != nil {
		_ = client.Close()
		return nil //nolint:nilerr // the client has gone
	}
	p.tunnels.Relay(ctx, client, early, server, nil)
	return nil
}
