package status

import (
	"net/url"
	"strings"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/proxy/pages"
)

// Section is a section of the configuration in force.
type Section struct {
	Name, Doc string
	Settings  []Setting
}

// Setting is a setting of the configuration in force.
type Setting struct {
	Path, Doc string
	Value     string // as written in a configuration file
	Origin    Origin
	Default   string // "" if Value is the default
	IsSet     bool   // its origin is not the default, or its value differs from it
}

// Origin is the origin of the value of a setting.
type Origin struct {
	From       MessageID
	Name       string // the file with the line, the variable or the flag; "" for FromDefault
	Credential string // the systemd credential that the value refers to; "" for none
}

// Kinds of origins.
const (
	FromDefault     MessageID = "settings.from_default"
	FromFile        MessageID = "settings.from_file"
	FromEnvironment MessageID = "settings.from_environment"
	FromFlag        MessageID = "settings.from_flag"
)

// text returns an origin in the language of a page.
func (o Origin) text(in pages.Writer) string {
	text := in.Text(string(o.From), "Name", o.Name)
	if o.Credential != "" {
		text += ", " + in.Text("settings.credential", "Name", o.Credential)
	}
	return text
}

// Cut returns the setting with values shortened for a page.
func (s Setting) Cut() Setting {
	const most = 300 // bytes
	for _, text := range []*string{&s.Value, &s.Default} {
		*text = strings.Clone(plaintext.Shorten(*text, most))
	}
	return s
}

// size estimates the bytes of a setting in HTML.
func (s Setting) size() int {
	const around = 200
	n := around
	for _, text := range []string{s.Path, s.Value, s.Default, s.Origin.Name, s.Doc} {
		n += escapedLength(text)
	}
	return n
}

// has reports whether the setting contains a word, which is in lower case.
func (s Setting) has(in pages.Writer, word string) bool {
	for _, text := range []string{s.Path, s.Value, s.Origin.text(in), s.Doc} {
		if strings.Contains(strings.ToLower(text), word) {
			return true
		}
	}
	return false
}

// query selects the settings that are shown: those that contain all words of text, or those of a section; the
// zero value selects those that are not the default.
type query struct{ text, section string }

// chosen returns the settings that a query selects, and their number.
func (q query) chosen(in pages.Writer, all []Section) (found []Section, n int) {
	words := strings.Fields(strings.ToLower(q.text))
	for _, section := range all {
		some := Section{Name: section.Name}
		if q.section == section.Name {
			some.Doc = section.Doc
		}
		for _, s := range section.Settings {
			is := s.IsSet
			switch {
			case len(words) > 0:
				is = s.hasAll(in, words)
			case q.section != "":
				is = q.section == section.Name
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

func (s Setting) hasAll(in pages.Writer, words []string) bool {
	for _, word := range words {
		if !s.has(in, word) {
			return false
		}
	}
	return true
}

// settingsWithin returns the settings that fit in a number of bytes, and the number of omitted ones.
func settingsWithin(all []Section, bytes int) (shown []Section, left int) {
	for _, section := range all {
		some := Section{Name: section.Name, Doc: section.Doc}
		for _, s := range section.Settings {
			if bytes -= s.size(); bytes < 0 {
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

// sectionLink is a link to a section.
type sectionLink struct {
	Name, Href string // Href is "" for the current section
	All, Set   int
}

// settingsView is the data of the page of the configuration: the settings that are not the default or that a
// query selects, and links to all sections.
type settingsView struct {
	Path, Query string
	Heading     pages.Content
	Left        int // number of settings that are not shown
	Shown       []Section
	Sections    []sectionLink

	in pages.Writer
}

// From returns the origin of a setting in the language of the page.
func (v settingsView) From(s Setting) string { return s.Origin.text(v.in) }

func newSettingsView(in pages.Writer, all []Section, q query) settingsView {
	const mostText = 200 // limit of the query in bytes
	q.text, q.section = plaintext.Shorten(q.text, mostText), plaintext.Shorten(q.section, mostText)
	v := settingsView{Path: pathConfig, Query: q.text, in: in}
	found, n := q.chosen(in, all)
	const limit = 18_000 // bytes; the rest is for the frame and the sections
	v.Shown, v.Left = settingsWithin(found, limit)
	switch {
	case strings.TrimSpace(q.text) != "":
		v.Heading = in.T("settings.found", "Count", n)
	case q.section != "":
		v.Heading = in.T("settings.section", "Name", pages.Code(q.section))
	case n == 0:
		v.Heading = in.T("settings.defaults")
	default:
		v.Heading = in.T("settings.set_here", "Count", n)
	}
	for _, section := range all {
		to := sectionLink{Name: section.Name, All: len(section.Settings)}
		if section.Name != q.section || q.text != "" {
			to.Href = pathConfig + "?section=" + url.QueryEscape(section.Name)
		}
		for _, s := range section.Settings {
			if s.IsSet {
				to.Set++
			}
		}
		v.Sections = append(v.Sections, to)
	}
	return v
}
