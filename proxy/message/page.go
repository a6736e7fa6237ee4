package message

import "strings"

// Page is an HTML page with the values of its header fields, as package pages renders it.
type Page struct {
	Body     []byte
	Language string // value of Content-Language
	Policy   string // value of Content-Security-Policy, which allows only its own styles
}

// WithPage returns the reply with a page whose language was negotiated by Accept-Language.
func (r Reply) WithPage(p Page) Reply {
	r.Fields.Set("Content-Language", p.Language)
	r.Fields.Set("Content-Security-Policy", p.Policy)
	r.ContentType, r.Body = "text/html; charset=utf-8", p.Body
	switch {
	case r.Vary == "":
		r.Vary = "Accept-Language"
	case !strings.Contains(r.Vary, "Accept-Language"): // the language may already be in Vary
		r.Vary += ", Accept-Language"
	}
	return r
}
