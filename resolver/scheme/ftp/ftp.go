// Package ftp retrieves files and directories from FTP servers: RFC 959, and RFC 1738 section 3.2.
package ftp

import (
	"context"
	"crypto/x509"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler. All fields but Roots must be set.
type Config struct {
	Dial   scheme.Dial
	Limits scheme.Limits
	Now    func() time.Time
	// Anonymous is the password of the user anonymous, and Login whether other users are allowed.
	Anonymous string
	Login     bool
	TLS       TLS
	Roots     *x509.CertPool // of certificates where TLS is required; nil for those of the system
	// MaxIdle bounds the connections that wait for the next request, and Idle how long each does.
	MaxIdle int
	Idle    time.Duration
}

// TLS is when TLS is used: RFC 4217.
type TLS uint8

// The uses of TLS.
const (
	TLSOffered TLS = iota // where the server offers it, with any certificate
	TLSNever
	TLSRequired // with a valid certificate
)

// Handler implements scheme.Handler. It is safe for concurrent use.
type Handler struct{ config Config }

// New returns a Handler.
func New(config Config) *Handler { return &Handler{config} }

// Fetch implements scheme.Handler.
func (h *Handler) Fetch(context.Context, scheme.Request) (*scheme.Resource, error) {
	return nil, scheme.ErrUnsupported
}

// Close closes the connections that wait.
func (h *Handler) Close() {}
