package gate

import (
	"context"
	"encoding/base64"
	"net/netip"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
)

// Logins verify passwords of users. They are safe for concurrent use.
type Logins interface {
	// Login returns the user name for policy rules, and whether the password that a client has sent is right.
	// An error means that the password could not be verified, or that ctx has ended.
	Login(ctx context.Context, client netip.Addr, name, password string) (user string, right bool, err error)
}

// user decides by the login of a request, and sets the user of the verdict. A client of the proxy is asked
// for a login by 407, one that uses urnd as an origin server by 401.
func (g *Gate) user(ctx context.Context, v *Verdict, c *Client, a *route.Request) error {
	users, negotiates := g.usersOf(a), g.negotiates(a)
	isProxy := a.Kind == route.KindForward || a.Kind == route.KindTunnel || a.Kind == route.KindPurge
	switch {
	case users == nil && !negotiates:
		return nil
	case c.User != "":
		v.User = c.User
		return nil
	case isProxy && negotiates:
		return g.negotiate(ctx, v, c, users)
	case isProxy:
		return g.password(ctx, v, c, users, "Proxy-Authorization", problem.ErrProxyLogin)
	case users == nil:
		return problem.ErrNegotiateOnly
	case a.Kind == route.KindSite:
		return g.password(ctx, v, c, users, "Authorization", problem.ErrSiteLogin)
	default:
		return g.password(ctx, v, c, users, "Authorization", problem.ErrLogin)
	}
}

// password decides by Basic credentials in a field of the request; login is the error if they are missing or wrong.
func (g *Gate) password(ctx context.Context, v *Verdict, c *Client, users Logins, field string, login error) error {
	name, password, ok := basic(c.Header, field)
	if !ok {
		return login
	}
	user, right, err := users.Login(ctx, c.Addr, name, password)
	switch {
	case err != nil:
		return unknownLogin(ctx, err)
	case !right:
		return login
	}
	v.User = user
	return nil
}

// basic returns the Basic credentials in a field of a request (RFC 7617 section 2); ok is false if there are none.
func basic(header httpmessage.Header, field string) (name, password string, ok bool) {
	const scheme = "Basic "
	credentials := header.Get(field)
	if len(credentials) < len(scheme) || !strings.EqualFold(credentials[:len(scheme)], scheme) {
		return "", "", false
	}
	pair, err := base64.StdEncoding.DecodeString(credentials[len(scheme):])
	if err != nil {
		return "", "", false
	}
	if name, password, ok = strings.Cut(string(pair), ":"); !ok {
		return "", "", false
	}
	return name, password, true
}

// UserOf returns the user in the credentials of a request, "" for none. It is not verified: it is for logs.
func UserOf(header httpmessage.Header) string {
	for _, field := range [...]string{"Proxy-Authorization", "Authorization"} {
		if user, _, ok := basic(header, field); ok {
			return user
		}
	}
	return ""
}
