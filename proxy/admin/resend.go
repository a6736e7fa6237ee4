package admin

import (
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/urnd/urnd/proxy/admin/page"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
)

// A form that comes after its session has ended is not lost: the page to log in takes it along, and the page after it sends it again. It
// is nowhere but in these pages.

// fieldAgain is the field of the form to log in that has the form that was sent before.
const fieldAgain = "again"

// maxAgain bounds a form that is taken along, in octets.
const maxAgain = 256 << 10

// takeAlong returns the page to log in with the form of a request that nobody has logged in for. It returns the fault of the request where
// it has no form of ours.
func (h *Handler) takeAlong(w http.ResponseWriter, r *http.Request, o *page.Page, cookie string, fault error) (message.Reply, error) {
	client, err := h.reachAs(r, false)
	if err != nil || r.Method != http.MethodPost || o.MaxFile > 0 || !isUnknown(r, fault) || !h.isPrivate(r, client) {
		return message.Reply{}, fault
	}
	form, end, err := h.form(w, r, o, registry.Actor{})
	if err != nil {
		return message.Reply{}, fault
	}
	defer end()
	if !h.config.Sessions.IsForm(cookie, form.Get(fieldCSRF)) && !isOwn(r) {
		return message.Reply{}, fault
	}
	form.Del(fieldCSRF)
	again, next := form.Encode(), nextOf(r.URL.RequestURI())
	if len(again) > maxAgain || next == "/" { // too long to come back to
		return message.Reply{}, fault
	}
	field := h.field(cookie)
	p := &page.Request{Request: r, Field: field, Panel: h.panel(r, registry.Actor{}, field)}
	reply := h.showLogin(p, next, again, "login.ended")
	reply.Status = http.StatusForbidden
	return reply, nil
}

// isOwn reports whether the browser says that a page of this server has sent a form. Such a form whose field is none of this cookie is of a session
// that has ended, or from before a restart of urnd: it is shown once more, and does nothing until it is sent again.
func isOwn(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	return origin == "http://"+r.Host || origin == "https://"+r.Host
}

// askAgain returns the page that sends a form again whose field is none of a cookie. It returns problem.ErrForm where nothing says that it is ours.
func (h *Handler) askAgain(p *page.Request, o *page.Page, cookie string) (message.Reply, error) {
	p.Form.Del(fieldCSRF)
	next := nextOf(p.URL.RequestURI())
	if !isOwn(p.Request) || o.MaxFile > 0 || len(p.Form.Encode()) > maxAgain || next == "/" && o.Path != pathLogin {
		return message.Reply{}, problem.ErrForm
	}
	var reply message.Reply
	switch o.Path {
	case pathLogin: // with the form that goes along, and without the token
		reply = h.showLogin(p, nextOf(p.URL.Query().Get("next")), p.Form.Get(fieldAgain), "login.stale")
	default:
		reply = h.resendPage(p, cookie, next, "login.stale", p.Form)
	}
	reply.Status = http.StatusForbidden
	return reply, nil
}

// sendAgain returns the page that sends the form that was taken along, of who has logged in just now. ok is false where there is none.
func (h *Handler) sendAgain(p *page.Request, cookie, next string) (reply message.Reply, ok bool) {
	form, err := url.ParseQuery(p.Form.Get(fieldAgain))
	to, toErr := url.Parse(next)
	if err != nil || toErr != nil || len(form) == 0 {
		return reply, false
	}
	if o, _ := h.pageOf(to.Path); o == nil || isOpen(o) || to.Path == "/" { // which has no form
		return reply, false
	}
	return h.resendPage(p, cookie, next, "login.late", form), true
}

// resendPage shows a form that is sent again to a page by who has a cookie, with the message that says why.
func (h *Handler) resendPage(p *page.Request, cookie, to, said string, form url.Values) message.Reply {
	var fields [][2]string
	for _, name := range slices.Sorted(maps.Keys(form)) {
		for _, value := range form[name] {
			fields = append(fields, [2]string{name, value})
		}
	}
	panel := p.Panel
	panel.Title = p.Panel.In.Text("login.again")
	panel.Content = h.login.Make(p.Panel.In.Language(), "resend.html", struct {
		Field        pages.Content
		Action, Said string
		Fields       [][2]string
	}{h.field(cookie).HTML(), to, p.Panel.In.Text(said), fields})
	return h.Show(&panel)
}

// field returns the hidden field of the forms of who has a cookie.
func (h *Handler) field(cookie string) pages.Field {
	return pages.Field{Name: fieldCSRF, Value: h.config.Sessions.Form(cookie)}
}
