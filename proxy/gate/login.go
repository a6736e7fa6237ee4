package gate

import (
	"context"
	"net/http"

	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
)

// user decides by who has logged in, and says so in the verdict. A client of a proxy is asked for its password by 407; one that
// takes urnd for the origin server is asked by 401.
func (g *Gate) user(ctx context.Context, v *Verdict, c *Client, a *route.Ask) error {
	users := g.config.Access.Users
	if c.User != "" {
		v.User = c.User
		return nil
	}
	field, login := "Authorization", problem.ErrLogin
	if a.Kind == route.KindForward || a.Kind == route.KindTunnel || a.Kind == route.KindPurge {
		field, login = "Proxy-Authorization", problem.ErrProxyLogin
	}
	request := http.Request{Header: http.Header{"Authorization": c.Header[field]}}
	name, password, ok := request.BasicAuth()
	if !ok {
		return login
	}
	if g.guesses.Stopped(c.Addr, name) {
		return problem.ErrGuesses
	}
	right, err := users.Check(ctx, name, password)
	switch {
	case err != nil:
		return err
	case !right && g.guesses.Wrong(c.Addr, name):
		return login
	case !right || !g.guesses.Right(c.Addr, name):
		return problem.ErrGuesses
	}
	v.User = name
	return nil
}

// UserOf returns the user whom the fields of a request name, "" for none. Nothing is verified: it is for logs.
func UserOf(header http.Header) string {
	for _, credentials := range [...][]string{header["Proxy-Authorization"], header["Authorization"]} {
		if len(credentials) == 0 {
			continue
		}
		request := http.Request{Header: http.Header{"Authorization": credentials}}
		if user, _, ok := request.BasicAuth(); ok {
			return user
		}
	}
	return ""
}
