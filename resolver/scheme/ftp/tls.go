package ftp

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// secure starts TLS if the configuration says so: RFC 4217 section 4.
func (h *Handler) secure(ctx context.Context, c *control, t target) error {
	if h.config.TLS == TLSNever {
		return nil
	}
	if h.config.TLS == TLSOffered && !c.noFEAT { // without FEAT, AUTH itself shows whether there is TLS
		if err := c.queryFeatures(ctx); err != nil || !c.features.tls {
			return err
		}
	}
	r, err := c.command(ctx, "AUTH ", "TLS")
	switch {
	case err != nil:
		return err
	case r.code != 234 && h.config.TLS == TLSRequired:
		return fmt.Errorf("%w: %.200q", errNoTLS, r.text())
	case r.code != 234:
		return nil
	case c.in.Buffered() > 0: // injected before encryption started
		return fmt.Errorf("%w: unexpected data after the reply to AUTH", scheme.ErrInvalidResponse)
	}
	config := h.tlsConfig(t.host)
	conn := tls.Client(c.conn, config)
	if err := c.within(ctx, "AUTH TLS", func() error { return conn.HandshakeContext(ctx) }); err != nil {
		return err
	}
	c.conn = conn
	c.in = bufio.NewReaderSize(conn, h.config.Limits.Line)
	return h.protect(ctx, c, config, t.login)
}

// protect encrypts the data connections, too: RFC 4217 section 9.
func (h *Handler) protect(ctx context.Context, c *control, config *tls.Config, who login) error {
	if _, err := c.command(ctx, "PBSZ ", "0"); err != nil {
		return err
	}
	r, err := c.command(ctx, "PROT ", "P")
	switch {
	case err != nil:
		return err
	case r.ok():
		c.tls = config
	case h.config.TLS == TLSRequired:
		return fmt.Errorf("%w: %.200q", errNoTLS, r.text())
	case !who.anonymous: // for an anonymous login unencrypted data is acceptable
		return fmt.Errorf("%w: server refuses encrypted data connections: %.200q", resolver.ErrUnreachable, r.text())
	}
	return nil
}

// tlsConfig returns the configuration of a control connection and its data connections. They share a session
// cache: servers require that data connections resume the session of the control connection, which proves the
// same client.
func (h *Handler) tlsConfig(host string) *tls.Config {
	config := &tls.Config{
		ServerName: host, RootCAs: h.config.RootCAs, MinVersion: tls.VersionTLS12,
		ClientSessionCache: tls.NewLRUClientSessionCache(1),
	}
	if h.config.TLS == TLSOffered {
		// Without the offer the data would be sent in plain text, so any TLS is better than none: it protects
		// against passive eavesdroppers.
		config.InsecureSkipVerify, config.MinVersion = true, tls.VersionTLS10
	}
	return config
}
