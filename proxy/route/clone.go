package route

import (
	"net/http"

	"github.com/urnd/urnd/uri"
)

// Clone copies the strings of a Request without an error, so that it remains valid after the RequestHead that it was
// made from, whose strings may refer to reused memory. copyText returns a copy of a string.
func (a *Request) Clone(copyText func(string) string) {
	a.URI = a.URI.WithText(copyText(a.URI.String()))
	of := func(u uri.URI) uri.URI {
		if u == a.URI { // the usual case
			return a.URI
		}
		return u.WithText(copyText(u.String()))
	}
	t := &a.Target
	a.Key, t.Query.URI, t.Query.Spelling, t.Other = of(a.Key), of(t.Query.URI), of(t.Query.Spelling), of(t.Other)
	if t.Query.URN.IsValid() {
		t.Query.URN = t.Query.URN.WithText(copyText(t.Query.URN.URI().String()))
	}
	if n := t.Namespaces; n != nil {
		t.Namespaces = &Namespaces{copyText(n.NID), copyText(n.Search), copyText(n.After)}
	}
	if d := t.Docs; d != nil {
		t.Docs = &Docs{copyText(d.Slug)}
	}
	if t.Names != nil {
		t.Names = t.Names.clone(copyText)
	}
	if t.Sitemap != nil {
		t.Sitemap = &Sitemap{copyText(t.Sitemap.File)}
	}
	for _, text := range [...]*string{
		&a.Method, &a.Scheme, &a.Path, &a.Spelling, &a.Location, &a.Authority.Host, &t.Text, &t.Sort, &t.Format,
		&t.Handle, &t.Values, &t.Language,
		&t.Query.ResolutionParams,
	} {
		if constant := constantOf(*text); constant != "" {
			*text = constant
			continue
		}
		*text = copyText(*text)
	}
}

// constantOf returns the constant equal to a text, "" for none.
func constantOf(text string) string {
	for _, constant := range [...]string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		"http", "https",
	} {
		if text == constant {
			return constant
		}
	}
	return ""
}
