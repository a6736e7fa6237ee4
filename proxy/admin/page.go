package admin

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/admin/api"
	"github.com/urnd/urnd/proxy/admin/page"
	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
)

// fieldCSRF is the name of the hidden form field against cross-site request forgery.
const fieldCSRF = "csrf"

// maxForm limits a form, in bytes: a name has at most 100 targets of 8 KiB each, and 64 KiB of metadata.
const maxForm = 2 << 20

// pageOf returns the page of a path and the segment of its "{id}"; nil for none.
func (h *Handler) pageOf(path string) (p *page.Page, id string) {
	for i := range h.pages {
		if id, ok := api.Match(h.pages[i].Path, path); ok {
			return &h.pages[i], id
		}
	}
	return nil, ""
}

// isOpen reports whether a page needs no session.
func isOpen(p *page.Page) bool { return p.Path == pathLogin || p.Path == pathLogout }

// servePage serves a page of the admin interface.
func (h *Handler) servePage(w http.ResponseWriter, r *http.Request, o *page.Page, id string) {
	cookie, isNew := h.cookieOf(r)
	h.rememberLanguage(w, r)
	// The CSRF token depends on a cookie, even where no session is needed. A browser that follows a link of another
	// site withholds the cookie that it has: a new one would end the session.
	if _, refused := h.reachAs(r, isOpen(o)); isNew && refused == nil {
		w.Header().Add("Set-Cookie", session.SetCookie(r, cookie, h.isSecure(r)))
	}
	reply, err := h.pageReply(w, r, o, id, cookie) //nolint:contextcheck // the request carries the context
	switch {
	case err == nil:
	case mayLogIn(r, err):
		reply = toLogin(r)
	default:
		h.config.Log.Log(r.Context(), levelOf(err), "admin page failed", "client", r.RemoteAddr, "path", r.URL.Path,
			"error", err)
		reply = h.Problem(r, err)
	}
	h.Write(w, r, reply)
}

// levelOf returns the level at which an error is logged: input errors of editors are not worth a warning.
func levelOf(err error) slog.Level {
	switch problem.Status(err) {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusGone, http.StatusMethodNotAllowed,
		http.StatusPreconditionFailed,
		http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return slog.LevelInfo
	default:
		return slog.LevelWarn
	}
}

// pageReply returns a page if the actor may visit it and the CSRF token of a posted form is valid.
func (h *Handler) pageReply(
	w http.ResponseWriter, r *http.Request, o *page.Page, id, cookie string,
) (message.Reply, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
		return message.Reply{}, problem.NotAllowed(r.Method, "GET, HEAD, POST")
	}
	actor, err := h.visitor(r, o)
	p := &page.Request{Request: r, Actor: actor, ID: id, Field: h.field(cookie)}
	p.Panel = h.panel(h.Design.In(h.languageOf(r)), r, actor, p.Field)
	if r.Method != http.MethodPost {
		if err != nil {
			return message.Reply{}, err
		}
		return h.showPage(p, o, cookie)
	}
	// The body of a denied client is not read.
	if _, refused := h.reachAs(r, isOpen(o)); refused != nil {
		return message.Reply{}, cmp.Or(err, refused)
	}
	form, end, unread := h.form(w, r, o, actor, err == nil)
	if unread != nil {
		return message.Reply{}, cmp.Or(err, unread)
	}
	defer end()
	if err == nil && !h.config.Sessions.IsCSRFToken(cookie, form.Get(fieldCSRF)) {
		err = problem.ErrFormExpired
	}
	form.Del(fieldCSRF)
	p.Form = form
	var reply message.Reply
	if err == nil {
		reply, err = h.serveForm(p, o)
	}
	switch {
	case err != nil:
		return h.preserve(p, o, err)
	case p.Outcome != "" && reply.Status == http.StatusSeeOther:
		reply.Location = withDone(reply.Location, h.config.Sessions.KeepOutcome(cookie, string(p.Outcome)))
	}
	return reply, nil
}

// showPage returns a page with the outcome of the last form, which it then forgets. An outcome that was not shown is
// kept: it may be the only copy of a token.
func (h *Handler) showPage(p *page.Request, o *page.Page, cookie string) (message.Reply, error) {
	done := p.URL.Query().Get(fieldOutcome)
	p.Panel.Outcome = pages.Content(h.config.Sessions.Outcome(cookie, done))
	reply, err := h.serveForm(p, o)
	if p.Panel.Outcome != "" && err == nil && p.Method == http.MethodGet {
		h.config.Sessions.RemoveOutcome(done)
	}
	return reply, err
}

// fieldOutcome is the query parameter with the identifier of the outcome of the last form.
const fieldOutcome = "done"

// withDone adds the identifier of an outcome to the URL of the page that shows it.
func withDone(target, id string) string {
	if strings.Contains(target, "?") {
		return target + "&" + fieldOutcome + "=" + id
	}
	return target + "?" + fieldOutcome + "=" + id
}

// serveForm calls the Serve of a page, within the limits of the registry if the page uses it.
func (h *Handler) serveForm(p *page.Request, o *page.Page) (message.Reply, error) {
	if o.Use == 0 {
		return o.Serve(p)
	}
	leave, err := h.config.Registry.Enter(p.Context(), p.Actor)
	if err != nil {
		return message.Reply{}, err
	}
	defer leave()
	reply, err := o.Serve(p)
	if err != nil {
		h.logFailure(p.Request, p.Actor, err)
	}
	return reply, err
}

// visitor returns the actor of a request for a page, or an error where the actor may not visit it.
func (h *Handler) visitor(r *http.Request, o *page.Page) (registry.Actor, error) {
	if isOpen(o) { // login and logout
		_, err := h.reachAs(r, false)
		return registry.Actor{}, err
	}
	if o.Use != 0 && h.config.Registry == nil {
		return registry.Actor{}, problem.ErrNoRegistry
	}
	actor, err := h.actorOf(r)
	if err == nil && !mayVisit(actor, o) {
		err = fmt.Errorf("%w: %s is not authorized for this page", registry.ErrDenied, actor.Name)
	}
	return actor, err
}

// mayVisit reports whether an actor may visit a page. Pages that do not use the registry are for
// administrators, not for tokens of the registry.
func mayVisit(actor registry.Actor, o *page.Page) bool {
	if o.Use == 0 {
		return actor.Token == ""
	}
	return o.Use.Check(actor, 0) == nil
}

// form reads the fields of a form. Where the actor is not authenticated (known is false), a file may be no
// larger than other forms are. close removes the data that was read.
func (h *Handler) form(
	w http.ResponseWriter, r *http.Request, o *page.Page, actor registry.Actor, known bool,
) (_ url.Values, close func(), err error) {
	close = func() {}
	if o.MaxFile > 0 {
		most, done := int64(maxForm), func() {}
		if known {
			most += o.MaxFile
			if done, err = h.config.Registry.Upload(actor); err != nil {
				return nil, nil, err
			}
		}
		r.Body = http.MaxBytesReader(w, r.Body, most)
		if err = r.ParseMultipartForm(most); errors.Is(err, http.ErrNotMultipart) {
			err = nil // a form without a file; ParseForm has read it
		}
		close = func() {
			if r.MultipartForm != nil {
				_ = r.MultipartForm.RemoveAll() // all parts are in memory, no file can fail to be removed
			}
			done()
		}
	} else {
		most := int64(maxForm)
		if isOpen(o) {
			most += 2 * maxPreserved // it carries a preserved form
		}
		r.Body = http.MaxBytesReader(w, r.Body, most)
		err = r.ParseForm()
	}
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return r.PostForm, close, nil
	case errors.As(err, &large):
		err = fmt.Errorf("%w: the limit is %d bytes", problem.ErrDocumentSize, large.Limit)
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("%w: %w", problem.ErrDocument, err)
	default:
		err = fmt.Errorf("%w: %w", problem.ErrDocument, err)
	}
	close()
	return nil, nil, err
}

// panel returns the frame of a page for an actor: navigation, language and forms.
func (h *Handler) panel(in pages.Writer, r *http.Request, actor registry.Actor, field pages.Field) pages.Panel {
	p := pages.Panel{Path: r.URL.Path, Writer: in}
	if r.Method != http.MethodPost {
		p.Address = addressOf(r.URL)
	}
	if actor.Role == 0 {
		return p
	}
	for i := range h.pages {
		if o := &h.pages[i]; o.Label != "" && mayVisit(actor, o) {
			p.Nav = append(p.Nav, pages.Item{Label: p.Writer.Text(o.Label), Path: o.Path})
		}
	}
	if _, ok := h.sessionOf(r); ok {
		p.Account = &pages.Account{Name: actor.Name, Logout: pathLogout, Field: field}
	}
	return p
}

// isSecure reports whether a request was received over TLS, by urnd or by a trusted reverse proxy that says
// so.
func (h *Handler) isSecure(r *http.Request) bool {
	peer := gate.AddrOf(r.RemoteAddr)
	return r.TLS != nil || peer.IsValid() && gate.Contains(h.config.Proxies, peer) &&
		gate.SchemeOf(httpmessage.NewHeader(r.Header)) == "https"
}

// isPrivate reports whether the connection of a client cannot be eavesdropped: it uses TLS, loopback or a
// Unix socket.
func (h *Handler) isPrivate(r *http.Request, client netip.Addr) bool {
	return !client.IsValid() || client.IsLoopback() || h.isSecure(r)
}

// cookieOf returns the value of the session cookie of a request, or a new value where it has none (isNew).
func (h *Handler) cookieOf(r *http.Request) (cookie string, isNew bool) {
	if cookie = session.CookieOf(r, h.isSecure(r)); cookie != "" {
		return cookie, false
	}
	return session.NewCookieValue(), true
}

// mayLogIn reports whether an error of a page request is answered by a redirect to the login page.
func mayLogIn(r *http.Request, err error) bool {
	return isUnknown(r, err) && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// isUnknown reports whether an error is a missing or invalid authentication of a browser.
func isUnknown(r *http.Request, err error) bool {
	missing := errors.Is(err, problem.ErrAdminToken) || errors.Is(err, problem.ErrTokenRequired) ||
		errors.Is(err, registry.ErrInvalidToken)
	return missing && r.Header.Get("Authorization") == "" && acceptsPages(r)
}

// acceptsPages reports whether a request accepts HTML, as those of browsers do.
func acceptsPages(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), pages.Type) }

// isOldForm reports whether the CSRF token of a form belongs to another session, or was issued before a
// restart.
func isOldForm(err error) bool { return errors.Is(err, problem.ErrFormExpired) }
