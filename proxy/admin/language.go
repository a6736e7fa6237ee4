package admin

import (
	"net/http"
	"net/url"

	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
)

// fieldLanguage is the parameter by which a reader chooses a language, which is kept for the pages and forms that follow.
const fieldLanguage = "lang"

// languageOf returns the language of pages for who has sent a request: that which was chosen now or before, else one that a browser asks for.
func (h *Handler) languageOf(r *http.Request) pages.Language {
	for _, word := range []string{r.URL.Query().Get(fieldLanguage), session.Language(r)} {
		if l, ok := pages.LanguageOf(word); ok {
			return l
		}
	}
	return h.Design.Language(r.Header.Get("Accept-Language"))
}

// rememberLanguage keeps the language that was chosen now.
func (h *Handler) rememberLanguage(w http.ResponseWriter, r *http.Request) {
	if l, ok := pages.LanguageOf(r.URL.Query().Get(fieldLanguage)); ok {
		w.Header().Add("Set-Cookie", session.SetLanguage(l.Word(), h.isSecure(r)))
	}
}

// addressOf returns the path and query of a page without the parameters of its language and of what was done before.
func addressOf(u *url.URL) string {
	q := u.Query()
	q.Del(fieldLanguage)
	q.Del("done")
	if len(q) == 0 {
		return u.EscapedPath()
	}
	return u.EscapedPath() + "?" + q.Encode()
}

// Problem is that of page.Writer in the language that was chosen.
func (h *Handler) Problem(r *http.Request, err error) message.Reply {
	shown := r.Clone(r.Context())
	shown.Header.Set("Accept-Language", pages.Chosen(h.languageOf(r).Tag()))
	return h.Writer.Problem(shown, err)
}

// Fail sends Problem.
func (h *Handler) Fail(w http.ResponseWriter, r *http.Request, err error) {
	h.Write(w, r, h.Problem(r, err))
}
