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

// A form that was sent and not taken is not lost: the reply has it, filled in as it was, or a button that sends it once more. Where its session
// has ended, the page to log in carries it, and what it leads to shows it. It is nowhere but in these pages, so that it outlives a restart.

// fieldAgain is the field of the form to log in that carries the form that was sent before.
const fieldAgain = "again"

// maxAgain bounds a form that the page to log in carries, in bytes: that page is for whoever may connect.
const maxAgain = maxForm

// preserve returns the reply to a form that was not taken because of an error, with the form. It returns the error where the form is none of
// this server, or of a program.
func (h *Handler) preserve(p *page.Request, o *page.Page, err error) (message.Reply, error) {
	client, refused := h.reachAs(p.Request, isOpen(o))
	// A form of another site is not shown as if it were of this one: who looks at it would send it in good faith.
	isOurs := refused == nil && acceptsPages(p.Request) && !gate.IsCrossSite(httpmessage.LinesOf(p.Header), p.Host)
	if !isOurs || p.Form == nil || o.Path == pathLogout {
		return message.Reply{}, err
	}
	if isUnknown(p.Request, err) {
		if again, next := encodeForm(p.Form), nextOf(p.URL.RequestURI()); next != "/" && len(again) <= 2*maxAgain && h.isPrivate(p.Request, client) {
			reply := h.showLogin(p, next, again, p.Panel.In.T("again.log_in"))
			reply.Status = http.StatusForbidden
			return reply, nil
		}
		return message.Reply{}, err
	}
	h.config.Log.Log(p.Context(), levelOf(err), "a form of the admin interface was not taken", "client", p.RemoteAddr, "path", p.URL.Path, "error", err)
	reply := h.formAgain(p, o, h.notice(p, err))
	reply.Status = problem.Status(err)
	return reply, nil
}

// notice says why a form was not taken, and what to do.
func (h *Handler) notice(p *page.Request, err error) pages.Content {
	in := p.Panel.In
	reason := page.Said(in, err)
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

// formAgain returns the page of a form as it was sent, or, where that cannot be shown, one that sends it.
func (h *Handler) formAgain(p *page.Request, o *page.Page, notice pages.Content) message.Reply {
	p.Panel.Fault = notice
	if o.Again != nil && mayVisit(p.Actor, o) {
		if reply, err := o.Again(p); err == nil {
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
	panel.Title = panel.In.Text("again.title")
	panel.Content = h.contents.Make(panel.In.Language(), "preserve.html", struct {
		Field  pages.Content
		Action string
		Fields [][2]string
	}{p.Field.HTML(), p.URL.RequestURI(), fields})
	return h.Show(&panel)
}

// sendAgain returns the page of the form that was carried, of who has logged in just now. ok is false where there is none.
func (h *Handler) sendAgain(p *page.Request, actor registry.Actor, cookie, next string) (reply message.Reply, ok bool) {
	form, to := decodeForm(p.Form.Get(fieldAgain)), p.Clone(p.Context())
	at, err := url.Parse(next)
	if err != nil || len(form) == 0 {
		return reply, false
	}
	o, id := h.pageOf(at.Path)
	if o == nil || isOpen(o) || at.Path == "/" { // which has no form
		return reply, false
	}
	to.URL = at
	to.Header.Del("Cookie")
	to.AddCookie(session.Cookie(to, cookie, h.isSecure(to)))
	again := &page.Request{Request: to, Actor: actor, ID: id, Form: form, Field: h.field(cookie)}
	again.Panel = h.panel(to, actor, again.Field)
	again.Panel.In = p.Panel.In
	return h.formAgain(again, o, p.Panel.In.T("again.back")), true
}

// encodeForm returns a form as a text for a field of another one: shorter than in a query, where it is not ASCII.
func encodeForm(form url.Values) string {
	text, err := json.Marshal(form)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// decodeForm returns the form of a text, nil for none.
func decodeForm(text string) (form url.Values) {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(decoded, &form) != nil {
		return nil
	}
	return form
}

// field returns the hidden field of the forms of who has a cookie.
func (h *Handler) field(cookie string) pages.Field {
	return pages.Field{Name: fieldCSRF, Value: h.config.Sessions.Form(cookie)}
}
