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

// upgrade forwards a request to change the protocol of the connection: RFC 9110 section 7.8. Where
// the origin agrees, all that follows is carried both ways.
func (p *Proxy) upgrade(ctx context.Context, w ResponseWriter, r *Request, fields httpmessage.Fields, protocol string) error {
	fields.Set("Connection", "Upgrade")
	fields.Set("Upgrade", protocol)
	key := ""
	if r.Protocol != "" {
		key = newWebSocketKey()
		fields.Set(webSocketKey, key)
	}
	permit, err := p.config.Fetches.Acquire(r.Share)
	if err != nil {
		return err
	}
	leave := sync.OnceFunc(permit.Release)
	defer leave()
	c := p.newClient(w, r)
	defer c.end()
	asked := httpcache.Outgoing{Request: r.Request}
	asked.Fields = fields
	resource, pick, err := p.fetchOf(ctx, c, r, asked)
	c.answer()
	if err != nil {
		return blamed(c, err)
	}
	defer pick.Release()
	defer func() { _ = resource.Body.Close() }()
	if resource.Status != http.StatusSwitchingProtocols {
		response := &resource.Response
		if r.Protocol != "" && response.Status/100 == 2 { // which would say by HTTP/2 that the protocol was changed
			return errUnchanged
		}
		answer, err := challenging(r, &httpcache.Answer{
			Status: response.Status, Reason: response.Reason, Fields: httpcache.EndToEnd(response.Fields), Trailer: response.Trailer,
			ContentLength: response.ContentLength, From: response.From,
			Content: httpcache.Live(response), Outcome: httpcache.Outcome{Forwarded: "bypass"},
		})
		if err != nil {
			return err
		}
		p.send(ctx, w, r, answer)
		return nil
	}
	if key != "" && resource.Fields.Value(webSocketAccept) != acceptOf(key) {
		return errAccept
	}
	server, ok := resource.Body.(io.ReadWriteCloser)
	if !ok {
		return errNoStream
	}
	stream, err := p.config.Streams.Acquire(r.Share)
	if err != nil {
		return err
	}
	defer stream.Release()
	w.SetServer(resource.From)
	leave() // it counts as a stream from now on
	if r.Protocol != "" {
		return p.switchStream(ctx, w, resource.Fields, server)
	}
	return p.switchProtocols(ctx, w, resource.Fields, server)
}

var errNoStream = fmt.Errorf("%w: it changed the protocol of a connection that cannot be taken over", resolver.ErrUnreachable)

// switchProtocols passes the agreement of the origin on, and carries what follows.
func (p *Proxy) switchProtocols(ctx context.Context, w ResponseWriter, agreed httpmessage.Fields, server io.ReadWriteCloser) error {
	client, early, err := w.TakeOver()
	if err != nil {
		return fmt.Errorf("taking over the connection of a client: %w", err)
	}
	fields := httpcache.EndToEnd(agreed)
	fields.Add("Connection", "Upgrade")
	for _, protocol := range agreed.Lines("Upgrade") {
		fields.Add("Upgrade", protocol)
	}
	fields.Add("Via", p.config.Via.String())
	head := append(http1.AppendFields(http1.AppendStatusLine(nil, http.StatusSwitchingProtocols, ""), fields), "\r\n"...)
	if _, err := client.Write(head); err != nil {
		_ = client.Close()
		return nil //nolint:nilerr // the client has gone
	}
	p.tunnels.Carry(ctx, client, early, server, nil)
	return nil
}
