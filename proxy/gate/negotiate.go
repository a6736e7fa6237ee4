package gate

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/problem"
)

// Handshakes authenticate users by the tokens of Negotiate (RFC 4559). They are safe for concurrent use.
type Handshakes interface {
	// Begin starts the login of a client on one connection. It sends nothing yet.
	Begin(client netip.Addr) Handshake
	// Epoch returns a number that changes when all logins become invalid.
	Epoch() uint64
}

// Handshake is the login of one connection, of one message or more. It must be used by one goroutine at a
// time, and must be closed.
type Handshake interface {
	// Next verifies a token of the client, in base64. An error means that it could not be verified, or that
	// ctx has ended.
	Next(ctx context.Context, token string) (HandshakeStep, error)
	Close()
}

// HandshakeStep is the result of a token. The zero value means that the login failed.
type HandshakeStep struct {
	User  string // the authenticated user, "" for none
	Token string // to be sent to the client, in base64; "" for none
	More  bool   // the client has to answer Token with another one
}

// Login is the login of a connection by Negotiate (RFC 4559 section 6). The zero value is no login. It must
// be used by one goroutine at a time, and must be closed.
type Login struct {
	by        Handshakes // the source of the other fields; nil before the first token
	handshake Handshake  // nil if none is in progress
	user      string     // "" for none
	epoch     uint64     // of user
	until     time.Time  // expiry of user; the zero value is the end of the connection
	proof     string     // see Proof
}

// Close logs out, and ends a handshake in progress. It may be called on nil.
func (l *Login) Close() {
	if l == nil {
		return
	}
	if l.handshake != nil {
		l.handshake.Close()
	}
	*l = Login{}
}

// Proof returns, once after a login, the token that authenticates the proxy to the client, in base64, for
// Proxy-Authentication-Info; "" for none. It may be called on nil.
func (l *Login) Proof() string {
	if l == nil {
		return ""
	}
	proof := l.proof
	l.proof = ""
	return proof
}

// userAt returns the user with a valid login, "" for none.
func (l *Login) userAt(by Handshakes, now time.Time) string {
	if l.user == "" || l.by != by || l.epoch != by.Epoch() || !l.until.IsZero() && !now.Before(l.until) {
		return ""
	}
	return l.user
}

// next verifies a token of a client, which starts a login, or continues one with the same program.
func (l *Login) next(ctx context.Context, by Handshakes, client netip.Addr, token string) (HandshakeStep, error) {
	if l.handshake == nil || l.by != by {
		over := l.handshake != nil
		l.Close()
		if over { // the program belonged to an earlier configuration: the client has to start again
			return HandshakeStep{}, nil
		}
		l.by, l.handshake = by, by.Begin(client)
	}
	l.user, l.proof = "", ""
	l.epoch = by.Epoch() // before the token is verified
	step, err := l.handshake.Next(ctx, token)
	if err != nil || !step.More {
		l.handshake.Close()
		l.handshake = nil
	}
	if err == nil && step.User != "" {
		l.user, l.proof = step.User, step.Token
	}
	return step, err
}

// negotiate decides by the login of the connection of a client of the proxy, which this request may complete.
// If the connection may carry requests of several clients, or a password is sent, users decide; nil for none.
func (g *Gate) negotiate(ctx context.Context, v *Verdict, c *Client, users Logins) error {
	const field = "Proxy-Authorization"
	access, l := &g.config.Access, c.Login
	switch {
	case l != nil: // continue below
	case users == nil:
		return problem.ErrConnectionAuth
	default:
		return g.password(ctx, v, c, users, field, problem.ErrProxyLogin)
	}
	required := &problem.LoginError{HasPasswords: users != nil}
	token, isToken := tokenOf(c.Header, field)
	switch {
	case isToken: // continue below
	case !c.Header.Has(field):
		if v.User = l.userAt(access.Negotiate, g.config.Now()); v.User != "" {
			return nil
		}
		l.Close()
		return required
	default:
		if l.Close(); users == nil {
			return required
		}
		return g.password(ctx, v, c, users, field, required)
	}
	step, err := l.next(ctx, access.Negotiate, c.Addr, token)
	switch {
	case err != nil:
		return unknownLogin(ctx, err)
	case step.More:
		return &problem.LoginError{Token: step.Token, InProgress: true}
	case step.User == "":
		return required
	}
	if access.LoginTTL > 0 {
		l.until = g.config.Now().Add(access.LoginTTL)
	}
	v.User = step.User
	return nil
}

// unknownLogin returns the error of a login that could not be verified.
func unknownLogin(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %w", problem.ErrLoginUnavailable, err)
}

// tokenOf returns the token of the scheme Negotiate in a field of a request (RFC 4559 section 4.2); ok is
// false if there is none.
func tokenOf(header httpmessage.Header, field string) (token string, ok bool) {
	scheme, token, ok := strings.Cut(header.Get(field), " ")
	return strings.Trim(token, " \t"), ok && strings.EqualFold(scheme, "Negotiate")
}
