package ftp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// connection returns a connection on which the user of the target is logged in, in the directory where
// the login leads to: one that waited, else a new one. Where the server has no place for a new one, those that wait
// are ended, as it may count them, and it is asked again until ctx ends.
func (h *Handler) connection(ctx context.Context, r scheme.Request, t target) (*control, error) {
	const first, longest = 50 * time.Millisecond, time.Second
	for wait := first; ; wait = min(2*wait, longest) {
		c, err := h.waiting(ctx, r, t)
		if c != nil || err != nil {
			return c, err
		}
		c, err = h.connect(ctx, r, t)
		var refused *scheme.Refusal
		if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable {
			return c, err
		}
		h.pool.Drop(func(c *control) bool { return c.key.address == t.address })
		again := time.NewTimer(wait)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return nil, err // what the server says
		}
	}
}

// waiting returns a connection that waited, and still works; nil where there is none.
func (h *Handler) waiting(ctx context.Context, r scheme.Request, t target) (*control, error) {
	c, ok := h.pool.Take(t.address, func(c *control) bool {
		return c.key == t.key && (r.Check == nil || r.Check(c.remote) == nil)
	})
	if !ok {
		return nil, nil //nolint:nilnil // none waits
	}
	// The request before left it somewhere else. A server that has ended it meanwhile is asked anew, and has
	// ended the others, too.
	soon, cancel := context.WithTimeout(ctx, livenessTimeout)
	defer cancel()
	err := c.goHome(soon)
	if err == nil {
		return c, nil
	}
	c.Close()
	if ctx.Err() != nil { // the client has left, and the others may work
		return nil, err
	}
	h.pool.Drop(func(c *control) bool { return c.key == t.key })
	return nil, nil //nolint:nilnil // none waits any more
}

// goHome leads back to where the login led to. That the server says where this is shows that its replies are those to
// these commands: one reply too many, to a request before, would be taken for that to the next command of another client.
func (c *control) goHome(ctx context.Context) error {
	reply, err := c.command(ctx, "CWD ", c.home)
	if err != nil || !reply.ok() || c.broken {
		return errors.Join(errAway, err)
	}
	where, err := c.command(ctx, "PWD", "")
	if err != nil || where.code != 257 || quoted(where.last()) != c.home || c.broken || c.in.Buffered() > 0 {
		return errors.Join(errAway, err)
	}
	return nil
}

// errAway is for a connection that cannot be used again.
var errAway = fmt.Errorf("%w: the connection is not where its login led to", resolver.ErrUnreachable)

// livenessTimeout is how long a connection that has waited may take for its first reply.
const livenessTimeout = 2 * time.Second

// connect opens a connection and logs in. Where the server has no proper answer to FEAT, which ends the connection, it is
// connected to again and not asked: a server need not know RFC 2389.
func (h *Handler) connect(ctx context.Context, r scheme.Request, t target) (*control, error) {
	c, err := h.open(ctx, r, t, false)
	if errors.Is(err, errFeatures) && ctx.Err() == nil {
		c, err = h.open(ctx, r, t, true)
	}
	return c, err
}

// open opens a connection and logs in, with FEAT or without.
func (h *Handler) open(ctx context.Context, r scheme.Request, t target, noFEAT bool) (*control, error) {
	conn, err := h.config.Dial(ctx, "tcp", t.address, r.Check)
	if err != nil {
		return nil, fmt.Errorf("connecting to an FTP server: %w", err)
	}
	c, err := newControl(conn, t.key, h.config.Limits)
	if err != nil {
		_ = conn.Close() // nothing was sent
		return nil, err
	}
	c.noFEAT = noFEAT
	if err := h.begin(ctx, c, t); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// begin reads the greeting, secures the connection, logs in, and asks for what the server can.
func (h *Handler) begin(ctx context.Context, c *control, t target) error {
	greeting, err := c.reply(ctx, "the connection")
	if err == nil && greeting.code == 120 { // ready in some minutes
		greeting, err = c.reply(ctx, "the connection")
	}
	if err != nil {
		return err
	}
	if !greeting.ok() {
		return refusal(greeting, "the connection")
	}
	if err := h.secure(ctx, c, t); err != nil {
		return err
	}
	if err := logIn(ctx, c, t); err != nil {
		return err
	}
	if err := c.ask(ctx); err != nil { // after the login it may be more
		return err
	}
	if c.features.utf8 { // RFC 2640, for servers that need to be told; a refusal does no harm
		if _, err := c.command(ctx, "OPTS UTF8 ON", ""); err != nil {
			return err
		}
	}
	where, err := c.command(ctx, "PWD", "")
	if err == nil && where.code == 257 {
		c.home = quoted(where.last())
	}
	return err
}

// logIn sends the user and the password: RFC 959 section 5.4.
func logIn(ctx context.Context, c *control, t target) error {
	r, err := c.command(ctx, "USER ", t.login.user)
	if err != nil {
		return err
	}
	if r.code == 331 && t.login.hasPassword {
		if r, err = c.command(ctx, "PASS ", t.login.password); err != nil {
			return err
		}
	}
	switch {
	case r.ok():
		c.welcome = r.message()
		return nil
	case r.code == 331 || r.code == 530 && t.asks && !isFull(r):
		return unauthorized(t, r)
	case r.code == 332:
		return scheme.Decline(http.StatusForbidden, "ftp_account", "the server asks for an account (ACCT), which a URL cannot have")
	default:
		return refusal(r, "the login")
	}
}

// quoted returns the directory in the reply to PWD, in which a quote is doubled: RFC 959 appendix II. It is ""
// where there is none.
func quoted(text string) string {
	_, text, found := strings.Cut(text, `"`)
	if !found {
		return ""
	}
	var name strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '"' {
			if i+1 == len(text) || text[i+1] != '"' {
				return name.String()
			}
			i++
		}
		name.WriteByte(text[i])
	}
	return ""
}

// errNoTLS is for a server that has to, but does not.
var errNoTLS = fmt.Errorf("%w: the server does not offer TLS, which the configuration requires", resolver.ErrUnreachable)
