package message

import "strings"

// Page is a page with what a response says of it: what package pages makes.
type Page struct {
	Body     []byte
	Language string // the value of Content-Language
	Policy   string // that of Content-Security-Policy, by which it has no style but its own
}

// WithPage returns the reply with a page, which was chosen by the language that the client accepts.
func (r Reply) WithPage(p Page) Reply {
	r.Fields.Set("Content-Language", p.Language)
	r.Fields.Set("Content-Security-Policy", p.Policy)
	r.ContentType, r.Body = "text/html; charset=utf-8", p.Body
	switch {
	case r.Vary == "":
		r.Vary = "Accept-Language"
	case !strings.Contains(r.Vary, "Accept-Language"): // something else may have been chosen by it
		r.Vary += ", Accept-Language"
	}
	return r
}
