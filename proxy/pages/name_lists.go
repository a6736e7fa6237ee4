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
func (r *room) link(m *markup, to, title string) {
	shown, _ := fitting(to, roomText)
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
		shown, _ = fitting(title, roomText)
		m.text(shown)
		m.tag("</bdi></a>")
		return
	}
	m.tag(`><code dir="auto">`)
	m.text(shown)
	m.tag("</code></a>")
}

// list returns the items of a list of URIs.
func (r *room) list(uris []string) template.HTML {
	items, _ := r.items(roomList, len(uris), func(m *markup, i int) {
		m.tag("<li>")
		r.link(m, uris[i], "")
		m.tag("</li>\n")
	})
	return items
}

// successors returns the items of the list of successors of a name.
func (r *room) successors(n *Name) template.HTML {
	items, _ := r.items(roomList, len(n.Successors), func(m *markup, i int) {
		m.tag("<li>")
		if i < len(n.SuccessorTitles) && n.SuccessorTitles[i] != "" {
			r.link(m, n.Successors[i], n.SuccessorTitles[i])
			m.tag(` <code dir="auto">`)
			shown, _ := fitting(n.Successors[i], roomText)
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
func (r *room) targets(all []Target, most int) (items template.HTML, isCut bool) {
	return r.items(most, len(all), func(m *markup, i int) { r.target(m, &all[i]) })
}

// target appends a target as a link with its metadata: its title comes first, or else its host.
func (r *room) target(m *markup, t *Target) {
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
		shown, _ := fitting(title, roomText)
		m.text(shown)
		m.tag("</b>")
		r.facts(m, host, r.relation(t.Rel), r.media(t.Type), r.tongue(t.Language))
		m.tag("</a>")
	}
	r.failing(m, t)
	m.tag("</li>\n")
}

// related returns the items of the list of related links.
func (r *room) related(all []Target) template.HTML {
	items, _ := r.items(roomList, len(all), func(m *markup, i int) {
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
func (r *room) facts(m *markup, all ...string) {
	said := strings.Join(slices.DeleteFunc(all, func(one string) bool { return one == "" }), " · ")
	if said == "" {
		return
	}
	m.tag("<small>")
	said, _ = fitting(said, roomText)
	m.text(said)
	m.tag("</small>")
}

// failing appends a note if the server of a target fails.
func (r *room) failing(m *markup, t *Target) {
	if t.IsFailing {
		m.tag(` <b class="ill">`)
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
	if id := "tongue." + base; w.Has(id) {
		return w.Text(id)
	}
	return tag
}

// formats returns the items of a list of formats.
func (r *room) formats(all []Format) template.HTML {
	items, _ := r.items(roomSteps, len(all), func(m *markup, i int) {
		m.tag("<li><a")
		m.attr("href", r.design.Path(all[i].Path))
		m.tag(">")
		m.text(all[i].Name)
		m.tag("</a></li>\n")
	})
	return items
}

// versions returns the items of a list of versions.
func (r *room) versions(all []Version) template.HTML {
	items, _ := r.items(roomSteps, len(all), func(m *markup, i int) {
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
func (r *room) properties(all [][2]string) template.HTML {
	rows, isCut := r.items(roomProperties, len(all), func(m *markup, i int) { r.property(m, all[i]) })
	if isCut {
		rows += "<tr><td>…</td></tr>\n"
	}
	return rows
}

func (r *room) property(m *markup, p [2]string) {
	m.tag(`<tr><th scope="row"`)
	r.inEnglish(m)
	m.tag(">")
	m.text(p[0])
	m.tag("</th><td>")
	if isURN(p[1]) || resolver.CheckLocation(p[1]) == nil {
		r.link(m, p[1], "")
	} else {
		shown, _ := fitting(p[1], roomText)
		m.tag(`<code dir="auto">`)
		m.text(shown)
		m.tag("</code>")
	}
	m.tag("</td></tr>\n")
}

// Limits of the page about a name, in bytes of markup.
const (
	roomPage       = 29_000
	roomFrame      = 6_000 // frame and headings
	roomTitle      = 500
	roomText       = 700
	roomPath       = 600
	roomTargets    = 5_000
	roomList       = 2_000
	roomSteps      = 3_000
	roomWay        = 7_000
	roomProperties = 4_000
	mostSteps      = 30
)

// room is the remaining size of a page, in bytes.
type room struct {
	Writer
	left int
}

// newRoom returns the room of a page with a style sheet.
func newRoom(w Writer, s *sheet) *room { return &room{w, roomPage - roomFrame - len(s.element)} }

// fit returns a text, cut with an ellipsis if its markup exceeds most bytes, and subtracts its size.
func (r *room) fit(s string, most int) string {
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
func (r *room) items(most, count int, write func(m *markup, i int)) (items template.HTML, isCut bool) {
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
func (r *room) path(name, path string) template.HTMLAttr {
	if path == "" {
		return ""
	}
	var m markup
	m.escape(r.design.Path(path))
	if len(m) > min(roomPath, r.left) {
		return ""
	}
	r.left -= len(m)
	return template.HTMLAttr(name + `="` + string(m) + `"`) //nolint:gosec // escaped, and of this server
}

// contact is the function contact for a text that may be long. Its size counts twice, since a link contains the
// text twice.
func (r *room) contact(text string) link { return contact(r.fit(r.fit(text, roomText), roomText)) }
