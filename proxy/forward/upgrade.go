package forward

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// upgrade forwards a request to change the protocol of the connection: RFC 9110 section 7.8. Where
// the origin agrees, all that follows is carried both ways.
func (p *Proxy) upgrade(w ResponseWriter, r *Request, header http.Header, protocol string) error {
	header["Connection"], header["Upgrade"] = []string{"Upgrade"}, []string{protocol}
	release, err := p.config.Fetches.Acquire(r.Share)
	if err != nil {
		return err
	}
	leave := sync.OnceFunc(release)
	defer leave()
	c := p.newClient(w, r)
	resource, err := p.fetchOf(r.Context(), c, r, httpcache.Outgoing{Method: r.Method, Header: header})
	c.answer()
	if err != nil {
		return blamed(c, err)
	}
	defer func() { _ = resource.Body.Close() }()
	if resource.Status != http.StatusSwitchingProtocols {
		trailer := trailerOf(resource)
		response := &httpcache.Response{Body: resource.Body, ContentLength: resource.ContentLength}
		answer, err := challenging(r, &httpcache.Answer{
			Status: resource.Status, Reason: resource.Reason, Header: httpcache.EndToEnd(resource.Fields.Header()), Trailer: trailer, Announced: announced(trailer),
			ContentLength: resource.ContentLength, From: resource.From, Content: httpcache.Live(r.Context(), response), Outcome: httpcache.Outcome{Forwarded: "bypass"},
		})
		if err != nil {
			return err
		}
		p.send(w, r, answer)
		return nil
	}
	server, ok := resource.Body.(io.ReadWriteCloser)
	if !ok {
		return errNoStream
	}
	endStream, err := p.config.Streams.Acquire(r.Share)
	if err != nil {
		return err
	}
	defer endStream()
	w.SetServer(resource.From)
	leave() // it counts as a stream from now on
	return p.switchProtocols(w, r, resource.Fields.Header(), server)
}

var errNoStream = fmt.Errorf("%w: it changed the protocol of a connection that cannot be taken over", resolver.ErrUnreachable)

// switchProtocols passes the agreement of the origin on, and carries what follows.
func (p *Proxy) switchProtocols(w http.ResponseWriter, r *Request, header http.Header, server io.ReadWriteCloser) error {
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return fmt.Errorf("taking over the connection of a client: %w", err)
	}
	fields := httpcache.EndToEnd(header)
	fields["Connection"], fields["Upgrade"] = []string{"Upgrade"}, header["Upgrade"]
	fields["Via"] = append(fields["Via"], p.config.Via.String())
	_, err = io.WriteString(buffered, "HTTP/1.1 101 Switching Protocols\r\n")
	err = errors.Join(err, fields.Write(buffered))
	_, endErr := io.WriteString(buffered, "\r\n")
	if err = errors.Join(err, endErr, buffered.Flush()); err != nil {
		_ = client.Close()
		return nil //nolint:nilerr // the client has gone
	}
	p.carry(r.Context(), client, buffered, server)
	return nil
}

// trailerOf returns the trailer of a resource as the cache has it, which is complete at the end of its body.
func trailerOf(resource *scheme.Resource) http.Header {
	if resource.Trailer == nil {
		return nil
	}
	trailer := resource.Trailer.Announced()
	resource.Body = httpmessage.AtEnd(resource.Body, func() { resource.Trailer.Fields.CopyTo(trailer) })
	return trailer
}
