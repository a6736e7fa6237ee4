// Package present renders documents for resources without an HTTP representation: scheme.Listing values, and
// refusals by servers of other protocols. A scheme.Request enters and is passed to the wrapped Handler; its
// resource leaves, as HTML or JSON negotiated by Accept and Accept-Language (RFC 9110 section 12), with an
// entity tag. Refusals become problem documents (RFC 9457).
package present

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler.
type Config struct {
	Fetch    scheme.Handler
	TTL      time.Duration // freshness lifetime of listings
	MaxBytes int64         // maximum size of a rendered listing in bytes, approximately; its items are truncated above
	Schemes  scheme.Infos  // of protocol gateways; nil for none
	Pages    *pages.Design
	// Memory limits the memory of documents, from before the fetch until they are sent. nil is no limit.
	Memory *quota.Memory
	// MemoryWait is the maximum time that a request waits for that memory; 0 is five seconds.
	MemoryWait time.Duration
}

// Handler is a scheme.Handler that renders what another one fetches. It sits below the HTTP cache, so that the cache
// stores and revalidates documents, and serves ranges of them, as of any response. It is safe for concurrent use.
type Handler struct {
	scheme.Handler
	ttl      time.Duration
	maxBytes int64
	memory   *quota.Memory
	wait     time.Duration // maximum time for memory
	schemes  scheme.Infos
	pages    *pages.Design
	// large limits the number of large listings that are rendered concurrently, because rendering holds several
	// copies in memory.
	large quota.Semaphore
}

// New returns a Handler.
func New(config Config) *Handler {
	return &Handler{
		Handler: config.Fetch, ttl: config.TTL, maxBytes: config.MaxBytes, schemes: config.Schemes, pages: config.Pages,
		memory: config.Memory, wait: cmp.Or(config.MemoryWait, defaultWait),
		large: make(quota.Semaphore, runtime.GOMAXPROCS(0)),
	}
}

// largeListing is the size in bytes from which a document counts as large.
const largeListing = 256 << 10

// Fetch implements scheme.Handler. The response of the server is in memory before its document is, so the
// maximum is reserved before the fetch.
func (p *Handler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	if r.URI.IsWeb() {
		return p.Handler.Fetch(ctx, r)
	}
	memory, err := p.reserve(ctx, r.Client)
	if err != nil {
		return nil, err
	}
	release := sync.OnceFunc(memory.Release)
	completed := false
	defer func() {
		if !completed { // also if a handler panics
			release()
		}
	}()
	resource, err := p.present(ctx, r)
	if err != nil {
		return nil, err
	}
	whole := int64(0)
	if byteCount, ok := resource.Body.(scheme.Bytes); ok {
		whole = byteCount.Size()
	}
	if err := memory.Resize(whole); err != nil {
		_ = resource.Body.Close()
		return nil, err
	}
	completed = true
	if whole > 0 {
		resource.Body = documentBody{resource.Body, release}
	}
	return resource, nil
}

// defaultWait is the default of Config.MemoryWait. Most memory is soon released, because most responses are smaller
// than the maximum, or not listings.
const defaultWait = 5 * time.Second

// reserve reserves memory for a document of maximum size, and waits for it.
func (p *Handler) reserve(ctx context.Context, client netip.Addr) (quota.Reservation, error) {
	ctx, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	return p.memory.Wait(ctx, client, p.maxBytes)
}

// documentBody is the body of a document. Closing it releases its memory.
type documentBody struct {
	io.ReadCloser
	release func()
}

// Close implements io.Closer.
func (b documentBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// present fetches a resource of a protocol other than HTTP.
func (p *Handler) present(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	resource, err := p.Handler.Fetch(ctx, r)
	var refusal *scheme.StatusError
	switch {
	case errors.As(err, &refusal):
		resource = p.refused(r, refusal)
	case err != nil:
		return nil, err
	case resource.Listing != nil:
		if resource, err = p.listed(ctx, r, resource); err != nil {
			return nil, err
		}
	}
	if resource.Reason == "" {
		resource.Reason = http.StatusText(resource.Status)
	}
	return resource, nil
}

// listed returns the document of a listing, in the media type negotiated by Accept. The error is that of ctx.
func (p *Handler) listed(ctx context.Context, r scheme.Request, resource *scheme.Resource) (*scheme.Resource, error) {
	if resource.Listing.Truncate(p.maxBytes) > largeListing {
		if err := p.large.Acquire(ctx); err != nil {
			return nil, fmt.Errorf("waiting to render a listing: %w", err)
		}
		defer p.large.Release()
	}
	contentType, document := answer.Listing(p.pages.For(r.Fields.Get(pages.Vary)), r.Fields.Get("Accept"),
		resource.Listing)
	sum := sha256.Sum256(document.Body)
	const enough = 12
	etag := `"` + base64.RawURLEncoding.EncodeToString(sum[:enough]) + `"`
	fields := resource.Fields
	fields.Set("Content-Type", contentType)
	fields.Add("Vary", "Accept, "+pages.Vary) // in addition to those of the handler
	fields.Set("ETag", etag)
	if fields.Get("Cache-Control") == "" {
		fields.Set("Cache-Control", message.MaxAge(p.ttl))
	}
	protect(&fields, document)
	if instead := scheme.Precondition(r.Fields, fields, etag, time.Time{}); instead != nil {
		instead.RemoteAddr = resource.RemoteAddr
		return instead, nil
	}
	return withBody(r, resource, fields, document.Body), nil
}

// refused returns the response for a refusal of a server, with its reason. Proxy-Status has no error, because
// nothing failed on the way.
func (p *Handler) refused(r scheme.Request, refusal *scheme.StatusError) *scheme.Resource {
	accept, fetched := answer.ParseListingAccept(r.Fields.Get("Accept"))
	if fetched && refusal.Status == http.StatusUnauthorized {
		// The challenge is not forwarded: the browser would send the password to this server, as one of this
		// server.
		refusal = &scheme.StatusError{
			Status: http.StatusForbidden, Reply: refusal.Reply, Local: refusal.Local, Code: refusal.Code,
			Values: refusal.Values,
		}
	}
	about := &problem.Failure{Err: refusal, Input: r.URI.WithoutPassword().String(), Fetched: fetched}
	about.Typed, about.Noun = about.Input, p.schemes.Noun(about.Input)
	requested := httpmessage.NewFields("Accept", accept, pages.Vary, r.Fields.Get(pages.Vary))
	reply := problem.ProxyReply(p.pages, requested.Values, "urnd", about)
	fields := reply.Fields
	for _, f := range refusal.Fields {
		fields.Del(f.Name)
	}
	fields = append(fields, refusal.Fields...)
	fields.Set("Content-Type", reply.ContentType)
	fields.Set("Vary", reply.Vary)
	fields.Set("Cache-Control", reply.CacheControl)
	protect(&fields, pages.Page{Policy: fields.Get("Content-Security-Policy")})
	return withBody(r, &scheme.Resource{Response: httpmessage.Response{Status: reply.Status}}, fields, reply.Body)
}

func withBody(r scheme.Request, resource *scheme.Resource, fields httpmessage.Fields, body []byte) *scheme.Resource {
	if unused := cap(body) - len(body); unused > len(body)/4 {
		body = bytes.Clone(body)
	}
	fields.Set("Content-Length", strconv.Itoa(len(body)))
	content := body
	if r.Method == http.MethodHead {
		content = nil
	}
	return &scheme.Resource{
		Response: httpmessage.Response{
			Status: resource.Status, Reason: resource.Reason, Fields: fields, RemoteAddr: resource.RemoteAddr,
			Body: scheme.NewBytes(content), ContentLength: int64(len(body)),
		},
	}
}

// protect sets the header fields that keep a document of urnd, such as a page, from doing anything but being
// displayed.
func protect(fields *httpmessage.Fields, of pages.Page) {
	fields.Set("Content-Security-Policy", cmp.Or(of.Policy, forward.DocumentPolicy))
	if of.Language != "" {
		fields.Set("Content-Language", of.Language)
	}
	fields.Set("X-Content-Type-Options", "nosniff")
	fields.Set("Referrer-Policy", "no-referrer")
}
