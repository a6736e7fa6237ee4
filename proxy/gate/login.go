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

// Logins know the passwords of users. They are safe for concurrent use.
type Logins interface {
	// Login returns the name by which rules know a user, and whether that has this password, which a client has sent. The error is
	// that this cannot be known, or that ctx has ended.
	Login(ctx context.Context, client netip.Addr, name, password string) (user string, right bool, err error)
}

// user decides by who has logged in, and says so in the verdict. A client of a proxy is asked to log in by 407; one that takes urnd for
// the origin server is asked for its password by 401.
func (g *Gate) user(ctx context.Context, v *Verdict, c *Client, a *route.Ask) error {
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
		return problem.ErrProxyAlone
	case a.Kind == route.KindSite:
		return g.password(ctx, v, c, users, "Authorization", problem.ErrSiteLogin)
	default:
		return g.password(ctx, v, c, users, "Authorization", problem.ErrLogin)
	}
}

// password decides by the name and the password in a field of the request; login is the error where these are not right.
func (g *Gate) password(ctx context.Context, v *Verdict, c *Client, users Logins, field string, login error) error {
	name, password, ok := basic(c.Lines, field)
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

// basic returns the credentials of the scheme Basic in a field of a request, and false where it has none: RFC 7617 section 2.
func basic(lines httpmessage.Lines, field string) (name, password string, ok bool) {
	const scheme = "Basic "
	credentials := lines.Value(field)
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

// UserOf returns the user whom the fields of a request name, "" for none. Nothing is verified: it is for logs.
func UserOf(lines httpmessage.Lines) string {
	for _, field := range [...]string{"Proxy-Authorization", "Authorization"} {
		if user, _, ok := basic(lines, field); ok {
			return user
		}
	}
	return ""
}
