package pages

import (
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// longestLink is how many octets an address may have at most that a page has a link to.
const longestLink = 1000

// link appends a link to a URI, or its text where it is too long for one: with a title in its place, if there is one.
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

// successors returns the items of the list of what came instead of a name.
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

// targets returns the items of a list of locations, and whether there are more than there is room for.
func (r *room) targets(all []Target, most int) (items template.HTML, isCut bool) {
	return r.items(most, len(all), func(m *markup, i int) { r.target(m, &all[i]) })
}

// target appends a location as a link of all that is known of it: its title, else its host, is what one looks for.
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

// related returns the items of a list of what else belongs to a name.
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

// facts appends what is known of a location, without what is not.
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

// failing appends that the server of a location does not answer, where that is so.
func (r *room) failing(m *markup, t *Target) {
	if t.IsFailing {
		m.tag(` <b class="ill">`)
		m.text(r.Text("name.not_answering"))
		m.tag("</b>")
	}
}

// hostOf returns the host of a location, "" for none, and whether a link may lead there.
func hostOf(location string) (host string, ok bool) {
	u, err := uri.Parse(location)
	if err != nil || resolver.CheckLocation(location) != nil {
		return "", false
	}
	host, _ = u.Host()
	return strings.ToLower(host), true
}

// relation returns a relation of a link (RFC 8288) in words, if there are some.
func (w Writer) relation(rel string) string {
	if id := "rel." + rel; w.Has(id) {
		return w.Text(id)
	}
	return rel
}

// media returns a media type in words, if there are some.
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

// tongue returns the name of a language by its tag (RFC 5646), in the language of the page, or the tag where it has none.
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

// properties returns the rows of a table of properties, whose values are links where they are locations or names.
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

// What the page about a name has room for at most, in octets of markup.
const (
	roomPage       = 29_000
	roomFrame      = 6_000 // what is around the content, and headings
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

// room is what is left of a page for what is known of a name.
type room struct {
	Writer
	left int
}

// newRoom returns the room of a page with a style sheet.
func newRoom(w Writer, s *sheet) *room { return &room{w, roomPage - roomFrame - len(s.element)} }

// fit returns a text of which the markup has at most so many octets, and the mark that it was cut.
func (r *room) fit(s string, most int) string {
	s, size := fitting(s, min(most, r.left))
	r.left -= size
	return s
}

// fitting returns as much of a text as has markup of at most so many octets, with the mark that it was cut, and how many it has.
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

// items returns what write writes of each of so many, as many as there is room for, and whether that are not all.
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

// path returns the attribute with a path of this server, "" for none or one that there is no room for.
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

// contact is the function contact for a text that may be long.
func (r *room) contact(text string) link { return contact(r.fit(r.fit(text, roomText), roomText)) } // a link has it twice
