package admin

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/admin/editor"
	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
)

// fieldCSRF is the hidden field of all forms.
const fieldCSRF = "csrf"

// pageOf returns the page with forms that is at a path, nil for none.
func (h *Handler) pageOf(path string) (o *operation, id string) {
	for i := range h.operations {
		if o := &h.operations[i]; o.page != nil {
			if id, ok := o.matches(path); ok {
				return o, id
			}
		}
	}
	return nil, ""
}

// servePage answers a request for a page with forms.
func (h *Handler) servePage(w http.ResponseWriter, r *http.Request, o *operation, id string) {
	cookie, isNew := h.cookieOf(r)
	h.rememberLanguage(w, r)
	if isNew { // forms belong to a cookie, also those of who needs no session
		w.Header().Add("Set-Cookie", session.SetCookie(r, cookie, h.isSecure(r)))
	}
	reply, err := h.pageReply(w, r, o, id, cookie)
	switch {
	case err == nil:
	case h.mayLogIn(r, err):
		reply = toLogin(r)
	default:
		h.config.Log.Log(r.Context(), levelOf(err), "a page of the admin interface was not shown", "client", r.RemoteAddr, "path", r.URL.Path, "error", err)
		reply = h.problem(r, err)
	}
	h.write(w, r, reply)
}

// levelOf returns the level at which an error is logged: what an editor has mistyped is nothing for those who look for faults.
func levelOf(err error) slog.Level {
	switch problem.Status(err) {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusGone, http.StatusMethodNotAllowed, http.StatusPreconditionFailed,
		http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return slog.LevelInfo
	default:
		return slog.LevelWarn
	}
}

// pageReply returns the page, if whoever asks may see it, and has sent no form that is not of this server.
func (h *Handler) pageReply(w http.ResponseWriter, r *http.Request, o *operation, id, cookie string) (message.Reply, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
		return message.Reply{}, problem.NotAllowed(r.Method, "GET, HEAD, POST")
	}
	actor, err := h.visitor(r, o)
	if err != nil {
		return h.takeAlong(w, r, o, cookie, err)
	}
	p := &editor.Request{Request: r, Actor: actor, ID: id, Field: h.field(cookie)}
	if r.Method == http.MethodPost {
		var close func()
		if p.Form, close, err = h.form(w, r, o, actor); err != nil {
			return message.Reply{}, err
		}
		defer close()
		if !h.config.Sessions.IsForm(cookie, p.Form.Get(fieldCSRF)) {
			return message.Reply{}, problem.ErrForm
		}
		p.Form.Del(fieldCSRF)
	}
	p.Panel = h.panel(r, actor, p.Field)
	if o.use == 0 {
		return o.page(p)
	}
	leave, err := h.config.Registry.Enter(r.Context(), actor)
	if err != nil {
		return message.Reply{}, err
	}
	defer leave()
	reply, err := o.page(p)
	if err != nil {
		h.logFailure(r, actor, err)
	}
	return reply, err
}

// visitor returns who asks for a page, if he may see it.
func (h *Handler) visitor(r *http.Request, o *operation) (registry.Actor, error) {
	if o.isOpen { // the page to log in
		_, err := h.reachAs(r, false)
		return registry.Actor{}, err
	}
	if o.use != 0 && h.config.Registry == nil {
		return registry.Actor{}, problem.ErrNoRegistry
	}
	actor, err := h.actorOf(r)
	if err == nil && !mayVisit(actor, o) {
		err = fmt.Errorf("%w: %s may not see this page", registry.ErrDenied, actor.Name)
	}
	return actor, err
}

// mayVisit reports whether a page is for an actor: those that are no use of the registry are for administrators, and for no token of it.
func mayVisit(actor registry.Actor, o *operation) bool {
	if o.use == 0 {
		return actor.Token == ""
	}
	return o.use.Check(actor, o.kind) == nil
}

// form reads the fields of a form of an actor, the zero value where it is not known. close removes what was read.
func (h *Handler) form(w http.ResponseWriter, r *http.Request, o *operation, actor registry.Actor) (_ url.Values, close func(), err error) {
	close = func() {}
	if o.maxFile > 0 {
		done, refused := h.config.Registry.Upload(actor)
		if refused != nil {
			return nil, nil, refused
		}
		r.Body = http.MaxBytesReader(w, r.Body, o.maxFile+maxDocument)
		if err = r.ParseMultipartForm(o.maxFile + maxDocument); errors.Is(err, http.ErrNotMultipart) {
			err = nil // a form without a file, which ParseForm has read
		}
		close = func() {
			if r.MultipartForm != nil {
				_ = r.MultipartForm.RemoveAll() // nothing is in files
			}
			done()
		}
	} else {
		r.Body = http.MaxBytesReader(w, r.Body, maxDocument)
		err = r.ParseForm()
	}
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return r.PostForm, close, nil
	case errors.As(err, &large):
		err = fmt.Errorf("%w: %d octets are", problem.ErrDocumentSize, large.Limit)
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("%w: %w", problem.ErrDocument, err)
	default:
		err = fmt.Errorf("%w: %w", problem.ErrDocument, err)
	}
	close()
	return nil, nil, err
}

// panel returns what is around the content of each page for an actor.
func (h *Handler) panel(r *http.Request, actor registry.Actor, field pages.Field) pages.Panel {
	p := pages.Panel{Path: r.URL.Path, In: h.config.Pages.In(h.languageOf(r))}
	if r.Method != http.MethodPost {
		p.Address = addressOf(r.URL)
	}
	if actor.Role == 0 {
		return p
	}
	for i := range h.operations {
		if o := &h.operations[i]; o.nav != "" && mayVisit(actor, o) {
			p.Nav = append(p.Nav, pages.Item{Word: p.In.Text(o.nav), Path: o.path})
		}
	}
	if _, ok := h.sessionOf(r); ok {
		p.Account = &pages.Account{Name: actor.Name, Logout: pathLogout, Field: field}
	}
	return p
}

// show returns the reply with a page.
func (h *Handler) show(p *pages.Panel) message.Reply {
	return message.Reply{Status: http.StatusOK, CacheControl: message.NoStore}.WithPage(message.Page(h.config.Pages.Panel(p)))
}

// isSecure reports whether a request has come by TLS, also to a proxy in front that says so.
func (h *Handler) isSecure(r *http.Request) bool {
	peer := gate.AddrOf(r.RemoteAddr)
	return r.TLS != nil || peer.IsValid() && gate.Contains(h.config.Proxies, peer) && gate.SchemeOf(httpmessage.LinesOf(r.Header)) == "https"
}

// isPrivate reports whether nobody reads what a client sends on its way: it comes by TLS, or from this machine.
func (h *Handler) isPrivate(r *http.Request, client netip.Addr) bool {
	return !client.IsValid() || client.IsLoopback() || h.isSecure(r)
}

// cookieOf returns the value of the cookie of a client; isNew is true where it has none.
func (h *Handler) cookieOf(r *http.Request) (cookie string, isNew bool) {
	if cookie = session.CookieOf(r, h.isSecure(r)); cookie != "" {
		return cookie, false
	}
	return session.Value(), true
}

// mayLogIn reports whether a person who asks for a page is asked for a token in place of an error.
func (h *Handler) mayLogIn(r *http.Request, err error) bool {
	return isUnknown(r, err) && (r.Method == http.MethodGet || r.Method == http.MethodHead) && h.isPage(r.URL.Path)
}

// isUnknown reports whether an error says of a person with a browser that it is not known who he is.
func isUnknown(r *http.Request, err error) bool {
	isMissing := errors.Is(err, problem.ErrAdminToken) || errors.Is(err, problem.ErrTokenRequired) || errors.Is(err, registry.ErrToken)
	return isMissing && r.Header.Get("Authorization") == "" && strings.Contains(r.Header.Get("Accept"), pages.Type)
}

// isPage reports whether a path is that of a page for people.
func (h *Handler) isPage(path string) bool {
	return slices.ContainsFunc(h.operations, func(o operation) bool {
		_, ok := o.matches(path)
		return ok && (o.isPage || o.page != nil)
	})
}
