package pages

import (
	"html/template"
	"strings"

	"github.com/urnd/urnd/resolver"
)

// link appends a link to a URI, or its text where it is too long for one: with a title in its place, if there is one.
func (r *room) link(m *markup, to, title string) {
	const longest = 1000 // octets of an address
	shown, _ := fitting(to, roomText)
	if len(to) > longest {
		m.tag("<code>")
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
		m.tag(">")
		shown, _ = fitting(title, roomText)
		m.text(shown)
		m.tag("</a>")
		return
	}
	m.tag("><code>")
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
		r.link(m, n.Successors[i], "")
		if i < len(n.SuccessorTitles) && n.SuccessorTitles[i] != "" {
			m.tag(" ")
			shown, _ := fitting(n.SuccessorTitles[i], roomText)
			m.text(shown)
		}
		m.tag("</li>\n")
	})
	return items
}

// targets returns the items of a list of locations, and whether there are more than there is room for.
func (r *room) targets(all []Target, most int) (items template.HTML, isCut bool) {
	return r.items(most, len(all), func(m *markup, i int) { r.target(m, &all[i]) })
}

func (r *room) target(m *markup, t *Target) {
	m.tag("<li>")
	r.link(m, t.URI, t.Title)
	var said []string
	for _, one := range [...]string{t.Rel, t.Type, t.Language} {
		if one != "" {
			said = append(said, one)
		}
	}
	if len(said) > 0 {
		m.tag(" <small>")
		about, _ := fitting(strings.Join(said, ", "), roomText)
		m.text(about)
		m.tag("</small>")
	}
	if t.IsFailing {
		m.tag(` <b class="ill">`)
		m.text(r.Text("name.not_answering"))
		m.tag("</b>")
	}
	m.tag("</li>\n")
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
		m.tag("<code>")
		m.text(shown)
		m.tag("</code>")
	}
	m.tag("</td></tr>\n")
}
