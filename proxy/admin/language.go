package admin

import (
	"net/http"
	"net/url"

	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
)

// fieldLanguage is the query parameter that selects the language of the pages. The choice is kept in a
// cookie.
const fieldLanguage = "lang"

// languageOf returns the language of the pages for a request: that of its query, else that of its cookie,
// else the best match of Accept-Language.
func (h *Handler) languageOf(r *http.Request) pages.Language {
	for _, word := range []string{r.URL.Query().Get(fieldLanguage), session.Language(r)} {
		if l, ok := pages.ParseLanguage(word); ok {
			return l
		}
	}
	return h.Design.Language(r.Header.Get("Accept-Language"))
}

// rememberLanguage sets the cookie of the language that the query selects.
func (h *Handler) rememberLanguage(w http.ResponseWriter, r *http.Request) {
	if l, ok := pages.ParseLanguage(r.URL.Query().Get(fieldLanguage)); ok {
		w.Header().Add("Set-Cookie", session.SetLanguage(l.ShortTag(), h.isSecure(r)))
	}
}

// addressOf returns the path and query of a page, without the parameters of the language and of the outcome.
func addressOf(u *url.URL) string {
	q := u.Query()
	q.Del(fieldLanguage)
	q.Del("done")
	if len(q) == 0 {
		return u.EscapedPath()
	}
	return u.EscapedPath() + "?" + q.Encode()
}

// Problem is Writer.Problem in the language of the request.
func (h *Handler) Problem(r *http.Request, err error) message.Reply {
	shown := r.Clone(r.Context())
	shown.Header.Set("Accept-Language", pages.Chosen(h.languageOf(r).Tag()))
	return h.Writer.Problem(shown, err)
}

// Fail sends the reply of Problem.
func (h *Handler) Fail(w http.ResponseWriter, r *http.Request, err error) {
	h.Write(w, r, h.Problem(r, err))
}
