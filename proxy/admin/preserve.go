package admin

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/admin/page"
	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
)

// A posted form that fails is not lost: the reply contains it, filled in as it was submitted, or a button
// that submits it once more. Where the session has expired, the login page carries the form, and the page
// after the login shows it. It is stored in these pages only, so it outlives a restart.

// fieldPreserved is the field of the login form that carries the preserved form.
const fieldPreserved = "again"

// maxPreserved limits a preserved form, in bytes: any client that may connect can request the login page.
const maxPreserved = maxForm

// preserve returns the reply to a form that failed with err, including the form. It returns err itself if the
// form was sent by another site or by a program.
func (h *Handler) preserve(p *page.Request, o *page.Page, err error) (message.Reply, error) {
	client, refused := h.reachAs(p.Request, isOpen(o))
	// A cross-site form is not shown as if it were one of this server: the user would submit it in good
	// faith.
	ours := refused == nil && acceptsPages(p.Request) && !gate.CrossSite(httpmessage.NewHeader(p.Header), p.Host)
	if !ours || p.Form == nil || o.Path == pathLogout {
		return message.Reply{}, err
	}
	if isUnknown(p.Request, err) {
		if again, next := encodeForm(p.Form), nextOf(p.URL.RequestURI()); next != "/" && len(again) <= 2*maxPreserved &&
			h.isPrivate(p.Request, client) {
			reply := h.showLogin(p, next, again, p.Panel.Writer.T("again.log_in"))
			reply.Status = http.StatusForbidden
			return reply, nil
		}
		return message.Reply{}, err
	}
	h.config.Log.Log(p.Context(), levelOf(err), "admin form rejected", "client", p.RemoteAddr, "path", p.URL.Path,
		"error", err)
	reply := h.restoreForm(p, o, h.notice(p, err))
	reply.Status = problem.Status(err)
	return reply, nil
}

// notice returns the message why a form failed, and what to do.
func (h *Handler) notice(p *page.Request, err error) pages.Content {
	in := p.Panel.Writer
	reason := page.ErrorContent(in, err)
	switch status := problem.Status(err); {
	case isOldForm(err):
		return in.T("again.old")
	case status == http.StatusTooManyRequests:
		return in.T("again.busy", "Reason", reason)
	case status >= http.StatusInternalServerError:
		return in.T("again.failed", "Reason", reason)
	default:
		return in.T("again.refused", "Reason", reason)
	}
}

// restoreForm returns the page of a form as it was submitted or, if the page cannot show it, a page with a
// button that submits it again.
func (h *Handler) restoreForm(p *page.Request, o *page.Page, notice pages.Content) message.Reply {
	p.Panel.Error = notice
	if o.Redisplay != nil && mayVisit(p.Actor, o) {
		if reply, err := o.Redisplay(p); err == nil {
			return reply
		}
	}
	var fields [][2]string
	for _, name := range slices.Sorted(maps.Keys(p.Form)) {
		for _, value := range p.Form[name] {
			fields = append(fields, [2]string{name, value})
		}
	}
	panel := p.Panel
	panel.Title = panel.Writer.Text("again.title")
	panel.Content = h.contents.Make(panel.Writer.Language(), "preserve.html", struct {
		Field  pages.Content
		Action string
		Fields [][2]string
	}{p.Field.HTML(), p.URL.RequestURI(), fields})
	return h.Show(&panel)
}

// servePreserved returns the page of the preserved form after a login. ok is false if there is no such form.
func (h *Handler) servePreserved(
	p *page.Request, actor registry.Actor, cookie, next string,
) (reply message.Reply, ok bool) {
	form, to := decodeForm(p.Form.Get(fieldPreserved)), p.Clone(p.Context())
	at, err := url.Parse(next)
	if err != nil || len(form) == 0 {
		return reply, false
	}
	o, id := h.pageOf(at.Path)
	if o == nil || isOpen(o) || at.Path == "/" { // the index has no form
		return reply, false
	}
	to.URL = at
	to.Header.Del("Cookie")
	to.AddCookie(session.Cookie(to, cookie, h.isSecure(to)))
	again := &page.Request{Request: to, Actor: actor, ID: id, Form: form, Field: h.field(cookie)}
	again.Panel = h.panel(p.Panel.Writer, to, actor, again.Field) // the clone has no cookie of the language
	return h.restoreForm(again, o, p.Panel.Writer.T("again.back")), true
}

// encodeForm encodes a form for a field of another form, shorter than in a query where it is not ASCII.
func encodeForm(form url.Values) string {
	text, err := json.Marshal(form)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// decodeForm decodes a form of encodeForm; nil if it is invalid.
func decodeForm(text string) (form url.Values) {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(decoded, &form) != nil {
		return nil
	}
	return form
}

// field returns the hidden CSRF field for a cookie.
func (h *Handler) field(cookie string) pages.Field {
	return pages.Field{Name: fieldCSRF, Value: h.config.Sessions.CSRFToken(cookie)}
}
