package nntp

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// login are the credentials at a server; the zero value is no login.
type login struct{ user, password string }

// loginOf returns the credentials for the server in a URL: those of Authorization, which a client sends when
// challenged, else those of the URL.
func loginOf(r scheme.Request, u uri.URI) (login, error) {
	l, ok := basicAuth(r.Fields.Get("Authorization"))
	if !ok {
		userinfo, _ := u.Userinfo()
		user, password, _ := strings.Cut(userinfo, ":")
		l = login{unescape(user), unescape(password)}
	}
	if strings.ContainsAny(l.user+l.password, "\r\n\x00") {
		return login{}, scheme.PolicyDenial(http.StatusBadRequest, "login_line_end", "line end in the user or password")
	}
	return l, nil
}

// basicAuth parses a field value with Basic credentials: RFC 7617.
func basicAuth(field string) (login, bool) {
	kind, token, _ := strings.Cut(field, " ")
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(token))
	if !strings.EqualFold(kind, "Basic") || err != nil {
		return login{}, false
	}
	user, password, ok := strings.Cut(string(text), ":")
	return login{user, password}, ok
}

func unescape(s string) string {
	text, err := url.PathUnescape(s)
	if err != nil {
		return s // cannot happen: the text is from a parsed URI
	}
	return text
}

// logIn logs in, if there is a user: RFC 4643 section 2.3. If the server offers TLS, the password is sent by
// TLS only.
func (c *client) logIn(s server) error {
	if s.user == "" {
		return nil
	}
	if err := c.secure(s); err != nil {
		return err
	}
	r, err := c.command("AUTHINFO USER " + s.user)
	if err == nil && r.code == codePassword {
		if s.password == "" {
			return s.refuse("server requires a password")
		}
		r, err = c.command("AUTHINFO PASS " + s.password)
	}
	switch {
	case err != nil:
		return fmt.Errorf("logging in: %w", err)
	case r.code == codeLoggedIn:
		return c.discover() // the capabilities may differ after the login: RFC 4643 section 2.2
	}
	switch r.code {
	case codeLoginFailed, codeLoginNeeded, codeLoginOrder, codeNeedsLogin, codeRejected:
		if !s.named {
			return fmt.Errorf("%w: %s rejects the configured login: %s", resolver.ErrUnreachable, s.Address, r)
		}
		return s.refuse(r.String())
	case codeNeedsTLS:
		return scheme.UpstreamError(http.StatusForbidden, r.String())
	default:
		return nil // the server has no login (RFC 4643 section 2.3.1); otherwise it replies 480 to the next command
	}
}
