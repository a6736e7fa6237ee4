package pages

import (
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// longestLink limits the URL of a link, in bytes.
const longestLink = 1000

// link appends a link to a URI with a title, by default the URI. A URI that is too long for a link is
// appended as text.
func (r *sizeBudget) link(m *markup, to, title string) {
	shown, _ := fitting(to, budgetText)
	if len(to) > longestLink {
		m.tag(`<code dir="auto">`)
		m.text(shown)
		m.tag("</code>")
		return
	}
	href := to
	if resolver.CheckLocation(to) != nil {
		href = r.design.Path("/" + to)
	}
	m.tag("<a")
	m.attr("href", href)
	if title != "" {
		m.tag("><bdi>")
		shown, _ = fitting(title, budgetText)
		m.text(shown)
		m.tag("</bdi></a>")
		return
	}
	m.tag(`><code dir="auto">`)
	m.text(shown)
	m.tag("</code></a>")
}

// list returns the items of a list of URIs.
func (r *sizeBudget) list(uris []string) template.HTML {
	items, _ := r.items(budgetList, len(uris), func(m *markup, i int) {
		m.tag("<li>")
		r.link(m, uris[i], "")
		m.tag("</li>\n")
	})
	return items
}

// successors returns the items of the list of successors of a name.
func (r *sizeBudget) successors(n *Name) template.HTML {
	items, _ := r.items(budgetList, len(n.Successors), func(m *markup, i int) {
		m.tag("<li>")
		if i < len(n.SuccessorTitles) && n.SuccessorTitles[i] != "" {
			r.link(m, n.Successors[i], n.SuccessorTitles[i])
			m.tag(` <code dir="auto">`)
			shown, _ := fitting(n.Successors[i], budgetText)
			m.text(shown)
			m.tag("</code>")
		} else {
			r.link(m, n.Successors[i], "")
		}
		m.tag("</li>\n")
	})
	return items
}

// targets returns the items of a list of targets, and whether some did not fit.
func (r *sizeBudget) targets(all []Target, most int) (items template.HTML, isCut bool) {
	return r.items(most, len(all), func(m *markup, i int) { r.target(m, &all[i]) })
}

// target appends a target as a link with its metadata: its title comes first, or else its host.
func (r *sizeBudget) target(m *markup, t *Target) {
	m.tag("<li>")
	if host, ok := hostOf(t.URI); !ok || t.Title == "" && host == "" || len(t.URI) > longestLink {
		r.link(m, t.URI, t.Title)
	} else {
		m.tag("<a")
		m.attr("href", t.URI)
		m.tag(`><b dir="auto">`)
		title := t.Title
		if title == "" {
			title, host = r.Text("name.open_at", "Host", host), ""
		}
		shown, _ := fitting(title, budgetText)
		m.text(shown)
		m.tag("</b>")
		r.facts(m, host, r.relation(t.Rel), r.media(t.Type), r.tongue(t.Language))
		m.tag("</a>")
	}
	r.failing(m, t)
	m.tag("</li>\n")
}

// related returns the items of the list of related links.
func (r *sizeBudget) related(all []Target) template.HTML {
	items, _ := r.items(budgetList, len(all), func(m *markup, i int) {
		t := &all[i]
		m.tag("<li>")
		r.link(m, t.URI, t.Title)
		m.tag(" ")
		r.facts(m, r.relation(t.Rel), r.media(t.Type), r.tongue(t.Language))
		r.failing(m, t)
		m.tag("</li>\n")
	})
	return items
}

// facts appends the non-empty metadata of a target.
func (r *sizeBudget) facts(m *markup, all ...string) {
	reported := strings.Join(slices.DeleteFunc(all, func(one string) bool { return one == "" }), " · ")
	if reported == "" {
		return
	}
	m.tag("<small>")
	reported, _ = fitting(reported, budgetText)
	m.text(reported)
	m.tag("</small>")
}

// failing appends a note if the server of a target fails.
func (r *sizeBudget) failing(m *markup, t *Target) {
	if t.Failing {
		m.tag(` <b class="unhealthy">`)
		m.text(r.Text("name.not_answering"))
		m.tag("</b>")
	}
}

// hostOf returns the host of a target, "" for none, and whether a link to it is allowed.
func hostOf(location string) (host string, ok bool) {
	u, err := uri.Parse(location)
	if err != nil || resolver.CheckLocation(location) != nil {
		return "", false
	}
	host, _ = u.Host()
	return strings.ToLower(host), true
}

// relation returns the text for a link relation (RFC 8288), by default the relation itself.
func (w Writer) relation(rel string) string {
	if id := "rel." + rel; w.Has(id) {
		return w.Text(id)
	}
	return rel
}

// media returns the text for a media type, by default the media type itself.
func (w Writer) media(mediaType string) string {
	base, _, _ := strings.Cut(mediaType, ";")
	kind, _, _ := strings.Cut(base, "/")
	switch base {
	case Type, "application/xhtml+xml":
		return w.Text("media.page")
	case "application/pdf":
		return "PDF"
	case "application/epub+zip":
		return "EPUB"
	}
	if id := "media." + kind; w.Has(id) && !strings.HasSuffix(base, "+xml") {
		return w.Text(id)
	}
	return mediaType
}

// tongue returns the name of a language for its tag (RFC 5646), in the language of the page, by default the
// tag.
func (w Writer) tongue(tag string) string {
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if id := "language." + base; w.Has(id) {
		return w.Text(id)
	}
	return tag
}

// formats returns the items of a list of formats.
func (r *sizeBudget) formats(all []Format) template.HTML {
	items, _ := r.items(budgetSteps, len(all), func(m *markup, i int) {
		m.tag("<li><a")
		m.attr("href", r.design.Path(all[i].Path))
		m.tag(">")
		m.text(all[i].Name)
		m.tag("</a></li>\n")
	})
	return items
}

// versions returns the items of a list of versions.
func (r *sizeBudget) versions(all []Version) template.HTML {
	items, _ := r.items(budgetSteps, len(all), func(m *markup, i int) {
		m.tag("<li><a")
		m.attr("href", r.design.Path(all[i].Path))
		m.tag("><time>")
		m.text(all[i].Time)
		m.tag("</time></a></li>\n")
	})
	return items
}

// properties returns the rows of a table of properties, whose values are links if they are locations or
// names.
func (r *sizeBudget) properties(all [][2]string) template.HTML {
	rows, isCut := r.items(budgetProperties, len(all), func(m *markup, i int) { r.property(m, all[i]) })
	if isCut {
		rows += "<tr><td>…</td></tr>\n"
	}
	return rows
}

func (r *sizeBudget) property(m *markup, p [2]string) {
	m.tag(`<tr><th scope="row"`)
	r.inEnglish(m)
	m.tag(">")
	m.text(p[0])
	m.tag("</th><td>")
	if isURN(p[1]) || resolver.CheckLocation(p[1]) == nil {
		r.link(m, p[1], "")
	} else {
		shown, _ := fitting(p[1], budgetText)
		m.tag(`<code dir="auto">`)
		m.text(shown)
		m.tag("</code>")
	}
	m.tag("</td></tr>\n")
}

// Limits of the page about a name, in bytes of markup.
const (
	budgetPage       = 29_000
	budgetFrame      = 6_000 // frame and headings
	budgetTitle      = 500
	budgetText       = 700
	budgetPath       = 600
	budgetTargets    = 5_000
	budgetList       = 2_000
	budgetSteps      = 3_000
	budgetTrace      = 7_000
	budgetProperties = 4_000
	mostSteps        = 30
)

// sizeBudget is the remaining size of a page, in bytes.
type sizeBudget struct {
	Writer
	left int
}

// newSizeBudget returns the room of a page with a style sheet.
func newSizeBudget(w Writer, s *sheet) *sizeBudget {
	return &sizeBudget{w, budgetPage - budgetFrame - len(s.element)}
}

// fit returns a text, cut with an ellipsis if its markup exceeds most bytes, and subtracts its size.
func (r *sizeBudget) fit(s string, most int) string {
	s, size := fitting(s, min(most, r.left))
	r.left -= size
	return s
}

// fitting returns a text, cut with an ellipsis if its markup exceeds most bytes, and the size of its markup.
func fitting(s string, most int) (fits string, size int) {
	const mark = "…"
	for i, c := range s {
		n := max(utf8.RuneLen(c), utf8.RuneLen(utf8.RuneError))
		switch c {
		case '<', '>', '&', '"', '\'', '+', 0: // html/template escapes all of them
			n = len("&#34;")
		}
		if size+n > most-len(mark) {
			return s[:i] + mark, size + len(mark)
		}
		size += n
	}
	return s, size
}

// items calls write for each of count items, as long as they fit, and reports whether some did not.
func (r *sizeBudget) items(most, count int, write func(m *markup, i int)) (items template.HTML, isCut bool) {
	var m markup
	for i := range count {
		before := len(m)
		write(&m, i)
		if len(m) > min(most, r.left) {
			m, isCut = m[:before], true
			break
		}
	}
	r.left -= len(m)
	return m.html(), isCut
}

// path returns an attribute with a path of this server, "" if there is no path or it does not fit.
func (r *sizeBudget) path(name, path string) template.HTMLAttr {
	if path == "" {
		return ""
	}
	var m markup
	m.escape(r.design.Path(path))
	if len(m) > min(budgetPath, r.left) {
		return ""
	}
	r.left -= len(m)
	return template.HTMLAttr(name + `="` + string(m) + `"`) //nolint:gosec // escaped, and of this server
}

// contact is the function contact for a text that may be long. Its size counts twice, since a link contains the
// text twice.
func (r *sizeBudget) contact(text string) link {
	return contact(r.fit(r.fit(text, budgetText), budgetText))
}
