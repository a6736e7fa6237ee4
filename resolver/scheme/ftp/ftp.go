// Package ftp fetches files and directories from FTP servers as scheme.Handler: RFC 959, and RFC 1738 section
// 3.2. A request for an ftp URL enters; a streamed file, a directory listing or a redirect leaves, and a
// negative reply of the server becomes a scheme.StatusError. It also implements TLS (RFC 4217), EPSV (RFC 2428),
// MLSD, SIZE and MDTM (RFC 3659), FEAT (RFC 2389), and listings of many LIST formats.
//
// The client of the protocol is its own: each reply line is limited, FEAT is sent before the login, and no text
// of a server is lost. Data connections are passive, and only to the address of the control connection.
package ftp

import (
	"context"
	"crypto/x509"
	"errors"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler. All fields but RootCAs, MaxFetches and DataPort must be set.
type Config struct {
	Dial   scheme.Dial
	Limits scheme.Limits
	Now    func() time.Time
	// Anonymous is the password of the user anonymous. Login allows other users.
	Anonymous  string
	AllowLogin bool
	TLS        TLS
	RootCAs    *x509.CertPool // trusted CAs where TLS is required; nil for those of the system
	// MaxIdle is the maximum number of idle connections, half of them to one server, and IdleTimeout their
	// idle timeout.
	MaxIdle     int
	IdleTimeout time.Duration
	// MaxFetches is the maximum number of concurrent requests; others wait, and 0 is no limit. Each request may
	// need two connections, so if Dial waits for free connections, set it to at most half of the number that
	// Dial allows.
	MaxFetches int
	// DataPort returns an error if a data connection must not use a port; nil allows all from 1024.
	DataPort func(port uint16) error
}

// TLS selects when TLS is used: RFC 4217.
type TLS uint8

// The uses of TLS.
const (
	TLSOffered TLS = iota // if the server offers it, with any certificate
	TLSNever
	TLSRequired // with a valid certificate
)

// Handler implements scheme.Handler. It is safe for concurrent use.
type Handler struct {
	config Config
	pool   *scheme.Pool[string, *control]
	places quota.Semaphore // held by each running request; nil for no limit
}

// New returns a Handler.
func New(config Config) *Handler {
	h := &Handler{config: config, pool: scheme.NewPool[string](scheme.PoolConfig[*control]{
		MaxIdle: config.MaxIdle, MaxIdlePerServer: scheme.MaxPerServer(config.MaxIdle), Timeout: config.IdleTimeout,
		Now: config.Now, Close: (*control).Close,
	})}
	if config.MaxFetches > 0 {
		h.places = make(quota.Semaphore, config.MaxFetches)
	}
	return h
}

// Close closes the idle connections, and those in use after their requests.
func (h *Handler) Close() { h.pool.Close() }

// Fetch implements scheme.Handler.
func (h *Handler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	t, err := h.newTarget(r)
	if err != nil {
		return nil, err
	}
	resource, err := h.fetch(ctx, r, t)
	if !t.private {
		if err == nil { // clients that send Authorization may get another response
			resource.Fields.Set("Vary", "Authorization")
		}
		return resource, err
	}
	var refusal *scheme.StatusError
	switch {
	case errors.As(err, &refusal):
		refusal.Fields.Set("Cache-Control", "no-store")
	case err == nil:
		resource.Fields.Set("Cache-Control", "no-store")
	}
	return resource, err
}

// fetch runs a request and returns the connection to the pool, unless the body owns it.
func (h *Handler) fetch(ctx context.Context, r scheme.Request, t target) (*scheme.Resource, error) {
	if err := h.enter(ctx); err != nil {
		return nil, err
	}
	// One timeout covers all commands before the first byte, however many commands a URL needs.
	before, cancel := h.config.within(ctx)
	defer cancel()
	c, err := h.connection(before, r, t)
	if err != nil {
		h.leave()
		return nil, err
	}
	release := func() { h.giveBack(c); h.leave() }
	f := fetch{config: &h.config, request: r, target: t, control: c, release: release}
	resource, err := f.answer(ctx, before)
	if err != nil && !errors.As(err, new(*scheme.StatusError)) {
		c.broken = true
	}
	if !f.streams {
		release()
	}
	if err != nil {
		return nil, err
	}
	resource.RemoteAddr = c.remote
	return resource, nil
}

// giveBack puts a connection into the pool, or closes it if it is not reusable.
func (h *Handler) giveBack(c *control) {
	if c.broken || c.home == "" || c.in.Buffered() > 0 {
		c.Close()
		return
	}
	h.pool.Put(c)
}
