package admin

import (
	"embed"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/admin/editor"
	"github.com/urnd/urnd/proxy/admin/page"
	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// The paths of sessions.
const (
	pathLogin  = "/login"
	pathLogout = "/logout"
)

//go:embed *.html
var files embed.FS

// loginPage shows the login form, and logs in when it is posted.
func (h *Handler) loginPage(p *page.Request) (message.Reply, error) {
	next := nextOf(p.URL.Query().Get("next"))
	client, err := h.reachAs(p.Request, false)
	if err != nil {
		return message.Reply{}, err
	}
	if !h.isPrivate(p.Request, client) {
		return message.Reply{}, problem.ErrLoginWithoutTLS
	}
	if p.Method != http.MethodPost {
		var failure pages.Content
		if p.URL.Query().Has("refused") {
			failure = p.Panel.Writer.T("login.refused")
		}
		return h.showLogin(p, next, "", failure), nil
	}
	actor, proof, err := h.logIn(p.Request, strings.TrimSpace(p.Form.Get("token")))
	if err == nil {
		return h.loggedIn(p, actor, proof, next), nil
	}
	h.config.Log.WarnContext(p.Context(), "admin login refused", "client", p.RemoteAddr, "error", err)
	if !errors.Is(err, registry.ErrInvalidToken) && !errors.Is(err, problem.ErrAdminToken) &&
		!errors.Is(err, problem.ErrTokenRequired) {
		return message.Reply{}, err
	}
	if again := p.Form.Get(fieldPreserved); again != "" { // a redirect cannot carry the form
		reply := h.showLogin(p, next, again, p.Panel.Writer.T("login.refused"))
		reply.Status = http.StatusForbidden
		return reply, nil
	}
	return message.Reply{
		Status: http.StatusSeeOther, Location: pathLogin + "?" + url.Values{"next": {next}, "refused": {""}}.Encode(),
		CacheControl: message.NoStore,
	}, nil
}

// redisplayLogin shows the login form after a failed submission. It carries the same preserved form.
func (h *Handler) redisplayLogin(p *page.Request) (message.Reply, error) {
	return h.showLogin(p, nextOf(p.URL.Query().Get("next")), p.Form.Get(fieldPreserved), ""), nil
}

// showLogin returns the login page. again is the encoded form that is preserved over the login, "" for none;
// failure is the error message, "" for none.
func (h *Handler) showLogin(p *page.Request, next, again string, failure pages.Content) message.Reply {
	leave := ""
	if cookie := session.CookieOf(p.Request, h.isSecure(p.Request)); session.IsSession(cookie) &&
		len(h.config.Token) == 0 {
		if _, valid := h.config.Sessions.Lookup(cookie); !valid {
			leave = pathLogout
		}
	}
	panel := p.Panel
	panel.Title = p.Panel.Writer.Text("login.title")
	panel.Content = h.contents.Make(p.Panel.Writer.Language(), "login.html", struct {
		Field         pages.Content
		Action, Again string
		Message       pages.Content
		HasRegistry   bool
		Leave         string // the path that deletes the cookie of an expired session, "" for none
	}{p.Field.HTML(), pathLogin + "?next=" + url.QueryEscape(next), again, failure, h.config.Registry != nil, leave})
	return h.Show(&panel)
}

// logIn returns the actor and the proof of a token.
func (h *Handler) logIn(r *http.Request, shown string) (registry.Actor, token.Proof, error) {
	actor, err := h.identify(r.Context(), shown, false)
	proof, _ := token.ProofOf(shown)
	proof.ID = actor.Token
	return actor, proof, err
}

// loggedIn starts a session for an authenticated token, and redirects to next or shows the preserved form.
func (h *Handler) loggedIn(p *page.Request, actor registry.Actor, proof token.Proof, next string) message.Reply {
	// The index is for administrators only.
	if proof.ID != "" && next == "/" {
		next = editor.PathNames
	}
	h.endSession(p.Request)
	cookie := h.config.Sessions.Begin(proof)
	h.config.Log.InfoContext(p.Context(), "admin login succeeded", "client", p.RemoteAddr, "token", proof.ID)
	reply, isAgain := h.servePreserved(p, actor, cookie, next)
	if !isAgain {
		reply = message.Reply{Status: http.StatusSeeOther, Location: next, CacheControl: message.NoStore}
	}
	reply.Fields.Set("Set-Cookie", session.SetCookie(p.Request, cookie, h.isSecure(p.Request)))
	return reply
}

// logout ends the session and deletes its cookie.
func (h *Handler) logout(p *page.Request) (message.Reply, error) {
	if p.Method != http.MethodPost {
		return message.Reply{}, problem.NotAllowed(p.Method, "POST")
	}
	h.endSession(p.Request)
	return message.Reply{
		Status: http.StatusSeeOther, Location: pathLogin, CacheControl: message.NoStore,
		Fields: httpmessage.NewFields("Set-Cookie", session.SetCookie(p.Request, "", h.isSecure(p.Request))),
	}, nil
}

func (h *Handler) endSession(r *http.Request) {
	if cookie := session.CookieOf(r, h.isSecure(r)); cookie != "" {
		h.config.Sessions.End(cookie)
	}
}

// sessionOf returns the proof with which the session of a request was started.
func (h *Handler) sessionOf(r *http.Request) (token.Proof, bool) {
	cookie := session.CookieOf(r, h.isSecure(r))
	if cookie == "" {
		return token.Proof{}, false
	}
	return h.config.Sessions.Lookup(cookie)
}

// actorOfSession returns the actor of the session of a request; ok is false without a session. Requests for
// paths that are not pages may only read.
func (h *Handler) actorOfSession(r *http.Request, client netip.Addr) (actor registry.Actor, ok bool, err error) {
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	if o, _ := h.pageOf(r.URL.Path); r.Header.Get("Authorization") != "" || !reading && o == nil ||
		!h.isPrivate(r, client) {
		return actor, false, nil
	}
	proof, ok := h.sessionOf(r)
	switch {
	case !ok:
		return actor, false, nil
	case proof.ID == "":
		return administrator(), h.isTokenOf(proof), nil
	case h.config.Registry == nil:
		return actor, false, nil
	}
	actor, err = h.config.Registry.AuthenticateProof(r.Context(), proof, !reading)
	if errors.Is(err, registry.ErrInvalidToken) { // the token was revoked, or has expired
		h.endSession(r)
		return actor, false, nil
	}
	return actor, true, err
}

// toLogin redirects to the login page, which returns to the URL of the request.
func toLogin(r *http.Request) message.Reply {
	return message.Reply{
		Status: http.StatusSeeOther, Location: pathLogin + "?next=" + url.QueryEscape(r.URL.RequestURI()),
		CacheControl: message.NoStore,
	}
}

// nextOf returns the target after a login: a path on this server, or "/" where text is no such path. This
// prevents an open redirect.
func nextOf(text string) string {
	const longest = 2000 // bytes; the URL of the login page contains it
	u, err := url.Parse(text)
	ours := err == nil && len(text) <= longest && u.Scheme == "" && u.Host == "" && strings.HasPrefix(u.Path, "/") &&
		!strings.HasPrefix(u.Path, "//") &&
		!strings.HasPrefix(text, "//") && !strings.ContainsAny(text, "\\\r\n\t") && u.Path != pathLogin
	if !ours {
		return "/"
	}
	return u.RequestURI()
}
