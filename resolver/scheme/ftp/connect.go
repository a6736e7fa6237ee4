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

// connection returns a control connection that is logged in as the user of the target, in the home directory of
// the login: an idle one, otherwise a new one. If the server rejects a new one because it has too many, the
// idle ones to it are closed, since it may count them, and connecting is retried with backoff until ctx ends.
func (h *Handler) connection(ctx context.Context, r scheme.Request, t target) (*control, error) {
	const first, longest = 50 * time.Millisecond, time.Second
	for wait := first; ; wait = min(2*wait, longest) {
		c, err := h.waiting(ctx, r, t)
		if c != nil || err != nil {
			return c, err
		}
		c, err = h.connect(ctx, r, t)
		var refused *scheme.StatusError
		if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable {
			return c, err
		}
		h.pool.Drop(func(c *control) bool { return c.key.address == t.address })
		again := time.NewTimer(wait)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return nil, err // the reply of the server
		}
	}
}

// waiting returns an idle connection that still works; nil if there is none.
func (h *Handler) waiting(ctx context.Context, r scheme.Request, t target) (*control, error) {
	c, ok := h.pool.Take(t.address, func(c *control) bool {
		return c.key == t.key && (r.Check == nil || r.Check(c.remote) == nil)
	})
	if !ok {
		return nil, nil //nolint:nilnil // no idle connection
	}
	// The previous request left it in another directory. If the server has closed it meanwhile, the caller
	// connects anew; the server has closed the other idle connections, too.
	soon, cancel := context.WithTimeout(ctx, livenessTimeout)
	defer cancel()
	err := c.goHome(soon)
	if err == nil {
		return c, nil
	}
	c.Close()
	if ctx.Err() != nil { // the request was canceled; the other connections may work
		return nil, err
	}
	h.pool.Drop(func(c *control) bool { return c.key == t.key })
	return nil, nil //nolint:nilnil // no idle connection works
}

// goHome returns to the home directory of the login. The reply to PWD, which must name that directory, shows
// that replies and commands are in step: a surplus reply to an earlier request would be taken for the reply to
// the next command of another client.
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

// errAway is the error for a connection that cannot be reused.
var errAway = fmt.Errorf("%w: connection not in its home directory", resolver.ErrUnreachable)

// livenessTimeout is the timeout for the replies of an idle connection when it is reused.
const livenessTimeout = 2 * time.Second

// connect opens a connection and logs in. If the server closes the connection at FEAT, it connects again and
// skips FEAT: a server need not implement RFC 2389.
func (h *Handler) connect(ctx context.Context, r scheme.Request, t target) (*control, error) {
	c, err := h.open(ctx, r, t, false)
	if errors.Is(err, errFeatures) && ctx.Err() == nil {
		c, err = h.open(ctx, r, t, true)
	}
	return c, err
}

// open opens a connection and logs in, optionally without FEAT.
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

// begin reads the greeting, starts TLS, logs in, and queries the features.
func (h *Handler) begin(ctx context.Context, c *control, t target) error {
	greeting, err := c.reply(ctx, "the connection")
	if err == nil && greeting.code == 120 { // ready in some minutes: RFC 959 section 4.2.1
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
	if err := c.queryFeatures(ctx); err != nil { // the features may differ after the login
		return err
	}
	if c.features.utf8 { // RFC 2640; some servers need it, and a refusal is harmless
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

// logIn sends USER and PASS: RFC 959 section 5.4.
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
	case r.code == 331 || r.code == 530 && t.prompts && !isFull(r):
		return unauthorized(t, r)
	case r.code == 332:
		return scheme.PolicyDenial(http.StatusForbidden, "ftp_account",
			"server requires an account (ACCT), which a URL cannot contain")
	default:
		return refusal(r, "the login")
	}
}

// quoted returns the directory in the reply to PWD, in which a quotation mark is doubled: RFC 959 appendix II.
// It is "" if there is none.
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

// errNoTLS is the error for a server without TLS where the configuration requires it.
var errNoTLS = fmt.Errorf("%w: server does not offer TLS, which is required", resolver.ErrUnreachable)
