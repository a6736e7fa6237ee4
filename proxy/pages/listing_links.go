package pages

import (
	"html/template"
	"net/url"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// linker makes links of the URIs in a listing.
type linker struct {
	writer  Writer
	through func(string) string
	isOwn   bool // the page is one of this server, and its links lead through it
}

func (w Writer) linker(through func(string) string) linker {
	return linker{w, through, strings.HasPrefix(through("urn:x:x"), "/")}
}

// place returns where the page is shown.
func (to linker) place() place {
	if to.isOwn {
		return here
	}
	return elsewhere
}

// isSafe reports whether a page may link to a URI: by its scheme (see uri.URI.IsLink), or since handlers make links of files. Others, such
// as javascript:, stay text even where a handler is deceived by its server.
func isSafe(text string) bool {
	u, err := uri.Parse(text)
	if err != nil || u.Check() != nil {
		return false
	}
	return u.IsLink() || uri.EqualFold(u.Scheme(), "file")
}

// isWeb reports whether a URI is one that browsers retrieve themselves.
func isWeb(text string) bool {
	name, _, _ := strings.Cut(text, ":")
	return uri.EqualFold(name, "http") || uri.EqualFold(name, "https")
}

// target returns where a link to a URI leads, "" where it must not be one, and whether that is in the web.
// Pages of the web are linked to directly, and do not learn from where. All others lead where through says:
// urnd retrieves them, or explains them (telnet, mailto, prospero), or resolves the name.
func (to linker) target(u string) (href string, web bool) {
	switch {
	case u == "" || !isSafe(u):
		return "", false
	case isWeb(u):
		return u, true
	default:
		return to.at(u), false
	}
}

// at returns where through leads, as browsers must ask for it. What is fetched keeps the language that was chosen: its URI is percent-encoded,
// and the parameter no part of it.
func (to linker) at(u string) string {
	target := to.through(u)
	switch {
	case !to.isOwn:
		return target
	case strings.HasPrefix(target, pathFetch+"?"):
		target += to.writer.parameter()
	}
	return to.writer.design.Path(target)
}

// href returns the attributes of a link to a URI, "" where it must not be one.
func (to linker) href(u string) template.HTMLAttr {
	switch target, web := to.target(u); {
	case target == "":
		return ""
	case web:
		return hrefOf(target) + ` rel="noreferrer"`
	default:
		return hrefOf(target)
	}
}

// link returns a link with its words, which are the URI where there are none.
func (to linker) link(words, u string) link {
	if words == "" {
		words = u
	}
	return link{to.href(u), line(words)}
}

// open returns the link to what a program of the user opens: always the URI itself.
func (to linker) open(l *scheme.Link) *link {
	if l == nil || !isSafe(l.URI) {
		return nil
	}
	words := l.Text
	if words == "" {
		words = to.writer.Text("listing.open", "Link", l.URI)
	}
	return &link{hrefOf(l.URI) + ` rel="noreferrer"`, line(words)}
}

// search returns the form of a question. By way of this server it sends the prefix with the words, as
// route.Parse reads them; else the words as the query of the listing's URI, to which handlers reply with
// a redirect. The query of an action is replaced by the fields of its form, so it is made fields.
func (to linker) search(l *scheme.Listing) *search {
	if l.Search == nil || !isSafe(l.URI) || !isSafe(l.Search.Prefix) {
		return nil
	}
	form := &search{Label: line(l.Search.Label)}
	if form.Label == "" {
		form.Label = to.writer.Text("listing.words")
	}
	action := l.URI
	if target := to.at(l.Search.Prefix); strings.HasPrefix(target, "/") {
		path, query, _ := strings.Cut(target, "?")
		values, err := url.ParseQuery(query)
		if err != nil {
			return nil
		}
		for name, all := range values {
			form.Hidden = append(form.Hidden, hidden{name, all[0]})
		}
		action = path
	}
	form.Action = template.HTMLAttr(`action="` + template.HTMLEscapeString(action) + `"`) //nolint:gosec // checked, and escaped
	return form
}
