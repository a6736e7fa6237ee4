package pages

import (
	"net/url"
	"strconv"
	"strings"
)

// Section is one of the configuration in force.
type Section struct {
	Name, Doc string
	Settings  []Setting
}

// Setting is one of the configuration in force.
type Setting struct {
	Path, Doc string
	Value     string // as a file has it
	Origin    string // in words
	Default   string // "" where the value is that
	IsSet     bool   // it has another origin than the default, or another value
}

// Cut returns the setting with values that a page has room for.
func (s Setting) Cut() Setting {
	const most = 300 // octets
	for _, text := range []*string{&s.Value, &s.Default} {
		if len(*text) > most {
			*text = strings.Clone(strings.ToValidUTF8((*text)[:most], "")) + " …"
		}
	}
	return s
}

// size returns about how many octets a setting takes in a page.
func (s Setting) size() int {
	const around = 150
	n := around
	for _, text := range []string{s.Path, s.Value, s.Default, s.Origin, s.Doc} {
		n += escapedLength(text)
	}
	return n
}

// has reports whether a word is in the setting, in lower case.
func (s Setting) has(word string) bool {
	for _, text := range []string{s.Path, s.Value, s.Origin, s.Doc} {
		if strings.Contains(strings.ToLower(text), word) {
			return true
		}
	}
	return false
}

// SettingsQuery says which settings are shown: those that have all words of Text, or those of a section; else what is not
// the default.
type SettingsQuery struct{ Text, Section string }

// chosen returns the settings that a query asks for, and how many.
func (q SettingsQuery) chosen(all []Section) (found []Section, n int) {
	words := strings.Fields(strings.ToLower(q.Text))
	for _, section := range all {
		some := Section{Name: section.Name}
		if q.Section == section.Name {
			some.Doc = section.Doc
		}
		for _, s := range section.Settings {
			is := s.IsSet
			switch {
			case len(words) > 0:
				is = hasAll(s, words)
			case q.Section != "":
				is = q.Section == section.Name
			}
			if is {
				some.Settings = append(some.Settings, s)
			}
		}
		if n += len(some.Settings); len(some.Settings) > 0 {
			found = append(found, some)
		}
	}
	return found, n
}

func hasAll(s Setting, words []string) bool {
	for _, word := range words {
		if !s.has(word) {
			return false
		}
	}
	return true
}

// within returns the sections that a page has room for, and how many settings are left out.
func settingsWithin(all []Section, octets int) (shown []Section, left int) {
	for _, section := range all {
		some := Section{Name: section.Name, Doc: section.Doc}
		for _, s := range section.Settings {
			if octets -= s.size(); octets < 0 {
				left++
				continue
			}
			some.Settings = append(some.Settings, s)
		}
		if len(some.Settings) > 0 {
			shown = append(shown, some)
		}
	}
	return shown, left
}

// sectionLink leads to a section.
type sectionLink struct {
	Entry
	All, Set int
}

// Settings returns the page of the configuration in force: what is not the default, what a query finds, and the way to all.
func (d *Design) Settings(p *Panel, all []Section, q SettingsQuery) Page {
	const mostText = 200 // octets of what is looked for
	q.Text = strings.ToValidUTF8(q.Text[:min(len(q.Text), mostText)], "")
	page := struct {
		Frame
		Query         string
		Title, Action string
		Heading       string
		Shown         []Section
		Sections      []sectionLink
	}{Frame: d.In(English).panelFrame(p, &d.states), Title: p.Title, Action: p.Path, Query: q.Text}
	found, n := q.chosen(all)
	const room = 18_000 // octets: the frame and the sections have the rest
	var left int
	page.Shown, left = settingsWithin(found, room)
	switch {
	case strings.TrimSpace(q.Text) != "":
		page.Heading = strconv.Itoa(n) + " found"
	case q.Section != "":
		page.Heading = "Section " + q.Section[:min(len(q.Section), mostText)]
	case n == 0:
		page.Heading = "All settings have their defaults"
	default:
		page.Heading = strconv.Itoa(n) + " set here"
	}
	if left > 0 {
		page.Heading += ", " + strconv.Itoa(left) + " of them not shown: look for a part of their names"
	}
	for _, section := range all {
		to := sectionLink{Entry: Entry{Word: section.Name}, All: len(section.Settings)}
		if section.Name != q.Section || q.Text != "" {
			to.Link = link{hrefOf(p.Path + "?section=" + url.QueryEscape(section.Name)), section.Name}
		}
		for _, s := range section.Settings {
			if s.IsSet {
				to.Set++
			}
		}
		page.Sections = append(page.Sections, to)
	}
	return d.In(English).execute("config.html", &d.states, page)
}
