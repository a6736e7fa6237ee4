// Package present makes documents of what has none in HTTP: of listings, and of refusals by servers of other protocols.
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
	Fetch   scheme.Handler
	TTL     time.Duration // freshness lifetime of listings
	Most    int64         // octets of a document of a listing, about: its items are cut where they exceed it
	Schemes scheme.Infos  // of protocol gateways; nil for none
	Pages   *pages.Design
	// Memory bounds the memory of documents, from before they are made until they are sent. nil bounds nothing.
	Memory *quota.Memory
	// Wait is how long a request waits for that memory; 0 is five seconds.
	Wait time.Duration
}

// Handler is a scheme.Handler that presents what another one fetches. It is before the cache, which so stores, validates and
// divides documents like all responses. It is safe for concurrent use.
type Handler struct {
	scheme.Handler
	ttl     time.Duration
	most    int64
	memory  *quota.Memory
	wait    time.Duration // for memory
	schemes scheme.Infos
	pages   *pages.Design
	// large are the large listings that documents are made of at the same time: they are in memory
	// several times then. The others wait.
	large quota.Semaphore
}

// New returns a Handler.
func New(config Config) *Handler {
	return &Handler{
		Handler: config.Fetch, ttl: config.TTL, most: config.Most, schemes: config.Schemes, pages: config.Pages,
		memory: config.Memory, wait: cmp.Or(config.Wait, defaultWait),
		large: make(quota.Semaphore, runtime.GOMAXPROCS(0)),
	}
}

// largeListing is from how many octets a document is one of the large ones.
const largeListing = 256 << 10

// Fetch implements scheme.Handler. What the server sends is in memory before its document is, so the most that
// this may have is taken before it is asked.
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
		if !completed { // also where a handler panics
			release()
		}
	}()
	resource, err := p.present(ctx, r)
	if err != nil {
		return nil, err
	}
	whole := int64(0)
	if octets, ok := resource.Body.(scheme.Octets); ok {
		whole = octets.Size()
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

// defaultWait is how long a request waits for memory, most of which is soon released: what a server sends is mostly smaller
// than it may be, or no listing.
const defaultWait = 5 * time.Second

// reserve takes memory for the largest document, and waits for it.
func (p *Handler) reserve(ctx context.Context, client netip.Addr) (quota.Reservation, error) {
	ctx, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	return p.memory.Wait(ctx, client, p.most)
}

// documentBody is the body of a document, which holds its memory until it is closed.
type documentBody struct {
	io.ReadCloser
	release func()
}

// Close implements io.Closer.
func (b documentBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// present fetches a resource of another protocol than HTTP.
func (p *Handler) present(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	resource, err := p.Handler.Fetch(ctx, r)
	var refusal *scheme.Refusal
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

// listed returns the document of a listing, of the type that the request asks for. The error is that of ctx.
func (p *Handler) listed(ctx context.Context, r scheme.Request, resource *scheme.Resource) (*scheme.Resource, error) {
	if resource.Listing.Bound(p.most) > largeListing {
		if err := p.large.Acquire(ctx); err != nil {
			return nil, fmt.Errorf("waiting to make a page of a listing: %w", err)
		}
		defer p.large.Release()
	}
	contentType, document := answer.Listing(p.pages.For(r.Fields.Value(pages.Vary)), r.Fields.Value("Accept"), resource.Listing)
	sum := sha256.Sum256(document.Body)
	const enough = 12
	etag := `"` + base64.RawURLEncoding.EncodeToString(sum[:enough]) + `"`
	fields := resource.Fields
	fields.Set("Content-Type", contentType)
	fields.Add("Vary", "Accept, "+pages.Vary) // besides what the handler selects by
	fields.Set("ETag", etag)
	if fields.Value("Cache-Control") == "" {
		fields.Set("Cache-Control", message.MaxAge(p.ttl))
	}
	protect(&fields, document)
	if instead := scheme.Precondition(r.Fields, fields, etag, time.Time{}); instead != nil {
		instead.From = resource.From
		return instead, nil
	}
	return withBody(r, resource, fields, document.Body), nil
}

// refused returns the response of a server that said no, with its reason. Proxy-Status has no error, since
// nothing failed on the way.
func (p *Handler) refused(r scheme.Request, refusal *scheme.Refusal) *scheme.Resource {
	accept, fetched := answer.AcceptOf(r.Fields.Value("Accept"))
	if fetched && refusal.Status == http.StatusUnauthorized {
		// Its challenge is not passed on: the browser would send the password to this server as its own.
		refusal = &scheme.Refusal{
			Status: http.StatusForbidden, Reply: refusal.Reply, Own: refusal.Own, Code: refusal.Code, Values: refusal.Values,
		}
	}
	about := &problem.Failure{Err: refusal, Input: r.URI.WithoutPassword().String(), Fetched: fetched}
	about.Typed, about.Noun = about.Input, p.schemes.Noun(about.Input)
	asked := httpmessage.FieldsOf("Accept", accept, pages.Vary, r.Fields.Value(pages.Vary))
	reply := problem.ProxyReply(p.pages, asked.Lines, "urnd", about)
	fields := reply.Fields
	for _, f := range refusal.Fields {
		fields.Del(f.Name)
	}
	fields = append(fields, refusal.Fields...)
	fields.Set("Content-Type", reply.ContentType)
	fields.Set("Vary", reply.Vary)
	fields.Set("Cache-Control", reply.CacheControl)
	protect(&fields, pages.Page{Policy: fields.Value("Content-Security-Policy")})
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
			Status: resource.Status, Reason: resource.Reason, Fields: fields, From: resource.From,
			Body: scheme.NewOctets(content), ContentLength: int64(len(body)),
		},
	}
}

// protect sets the fields that keep a document of urnd, which may be a page, from doing anything but being shown.
func protect(fields *httpmessage.Fields, of pages.Page) {
	fields.Set("Content-Security-Policy", cmp.Or(of.Policy, forward.DocumentPolicy))
	if of.Language != "" {
		fields.Set("Content-Language", of.Language)
	}
	fields.Set("X-Content-Type-Options", "nosniff")
	fields.Set("Referrer-Policy", "no-referrer")
}
