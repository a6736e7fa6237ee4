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

// Handshakes know users by the tokens of Negotiate (RFC 4559). They are safe for concurrent use.
type Handshakes interface {
	// Begin begins the login of a client by one connection, and asks nothing yet.
	Begin(client netip.Addr) Handshake
	// Epoch returns another number once all who have logged in are to do so again.
	Epoch() uint64
}

// Handshake is the login of one connection, of one message or more. One goroutine at a time may use it, and it must be
// closed.
type Handshake interface {
	// Next passes a token of the client on, in base64. The error is that what becomes of it cannot be known, or that
	// ctx has ended.
	Next(ctx context.Context, token string) (HandshakeStep, error)
	Close()
}

// HandshakeStep is what becomes of a token. The zero value is that the client is not let in.
type HandshakeStep struct {
	User  string // who has logged in, "" for nobody
	Token string // for the client, in base64; "" for none
	More  bool   // the client is to answer Token
}

// Login is who has logged in by a connection, by Negotiate: RFC 4559 section 6. The zero value is nobody. One goroutine at
// a time may use it, and it must be closed.
type Login struct {
	by        Handshakes // of whom the rest is; nil before a token
	handshake Handshake  // nil where none is under way
	user      string     // "" for nobody
	epoch     uint64     // that user belongs to
	until     time.Time  // of user; the zero value is the end of the connection
	proof     string     // see Proof
}

// Close logs out, and ends a handshake that is under way. nil has nothing to close.
func (l *Login) Close() {
	if l == nil {
		return
	}
	if l.handshake != nil {
		l.handshake.Close()
	}
	*l = Login{}
}

// Proof returns the token by which the client knows that it speaks with the proxy that it means, in base64, once behind a
// login: for Proxy-Authentication-Info. It is "" for none, and of nil.
func (l *Login) Proof() string {
	if l == nil {
		return ""
	}
	proof := l.proof
	l.proof = ""
	return proof
}

// userAt returns who has logged in, "" for nobody.
func (l *Login) userAt(by Handshakes, now time.Time) string {
	if l.user == "" || l.by != by || l.epoch != by.Epoch() || !l.until.IsZero() && !now.Before(l.until) {
		return ""
	}
	return l.user
}

// next passes a token of a client on, which begins a login, or continues one with the same program.
func (l *Login) next(ctx context.Context, by Handshakes, client netip.Addr, token string) (HandshakeStep, error) {
	if l.handshake == nil || l.by != by {
		isOver := l.handshake != nil
		l.Close()
		if isOver { // with the program of a configuration before: the client begins again
			return HandshakeStep{}, nil
		}
		l.by, l.handshake = by, by.Begin(client)
	}
	l.user, l.proof = "", ""
	l.epoch = by.Epoch() // before the program is asked
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

// negotiate decides by who has logged in by the connection of a client of the proxy, which may be by this request. Where
// requests of several clients may come by it, or a password is sent, users decide, nil for none.
func (g *Gate) negotiate(ctx context.Context, v *Verdict, c *Client, users Logins) error {
	const field = "Proxy-Authorization"
	access, l := &g.config.Access, c.Login
	switch {
	case l != nil: // what follows
	case users == nil:
		return problem.ErrConnectionAuth
	default:
		return g.password(ctx, v, c, users, field, problem.ErrProxyLogin)
	}
	required := &problem.LoginError{HasPasswords: users != nil}
	token, isToken := tokenOf(c.Lines, field)
	switch {
	case isToken: // what follows
	case !c.Lines.Has(field):
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
		return &problem.LoginError{Token: step.Token, IsBegun: true}
	case step.User == "":
		return required
	}
	if access.LoginTTL > 0 {
		l.until = g.config.Now().Add(access.LoginTTL)
	}
	v.User = step.User
	return nil
}

// unknownLogin returns the error of a login of which nobody says whether it is right.
func unknownLogin(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %w", problem.ErrLoginUnknown, err)
}

// tokenOf returns the token of the scheme Negotiate in a field of a request, and false where it has none: RFC 4559
// section 4.2.
func tokenOf(lines httpmessage.Lines, field string) (token string, ok bool) {
	scheme, token, ok := strings.Cut(lines.Value(field), " ")
	return strings.Trim(token, " \t"), ok && strings.EqualFold(scheme, "Negotiate")
}
