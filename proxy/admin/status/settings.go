package status

import (
	"net/url"
	"strings"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/proxy/pages"
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
	Origin    Origin
	Default   string // "" where the value is that
	IsSet     bool   // it has another origin than the default, or another value
}

// Origin is where the value of a setting is from.
type Origin struct {
	From       Word
	Name       string // of the file with the line, of the variable, of the flag; "" of FromDefault
	Credential string // of systemd, which the value names; "" for none
}

// Where values are from.
const (
	FromDefault     Word = "settings.from_default"
	FromFile        Word = "settings.from_file"
	FromEnvironment Word = "settings.from_environment"
	FromFlag        Word = "settings.from_flag"
)

// text returns an origin in the language of a page.
func (o Origin) text(in pages.Writer) string {
	text := in.Text(string(o.From), "Name", o.Name)
	if o.Credential != "" {
		text += ", " + in.Text("settings.credential", "Name", o.Credential)
	}
	return text
}

// Cut returns the setting with values that a page has room for.
func (s Setting) Cut() Setting {
	const most = 300 // bytes
	for _, text := range []*string{&s.Value, &s.Default} {
		*text = strings.Clone(plaintext.Shorten(*text, most))
	}
	return s
}

// size returns about how many bytes a setting takes in a page.
func (s Setting) size() int {
	const around = 200
	n := around
	for _, text := range []string{s.Path, s.Value, s.Default, s.Origin.Name, s.Doc} {
		n += escapedLength(text)
	}
	return n
}

// has reports whether a word is in the setting, in lower case.
func (s Setting) has(in pages.Writer, word string) bool {
	for _, text := range []string{s.Path, s.Value, s.Origin.text(in), s.Doc} {
		if strings.Contains(strings.ToLower(text), word) {
			return true
		}
	}
	return false
}

// query says which settings are shown: those that have all words of text, or those of a section; else what is not
// the default.
type query struct{ text, section string }

// chosen returns the settings that a query asks for, and how many.
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

// within returns the sections that a page has room for, and how many settings are left out.
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

// sectionLink leads to a section.
type sectionLink struct {
	Name, Href string // Href is "" for the section that is shown
	All, Set   int
}

// settingsView is the page of the configuration in force: what is not the default, what a query finds, and the way to all.
type settingsView struct {
	Path, Query string
	Heading     pages.Content
	Left        int // settings that are not shown
	Shown       []Section
	Sections    []sectionLink

	in pages.Writer
}

// From returns where a setting is from in the language of the page.
func (v settingsView) From(s Setting) string { return s.Origin.text(v.in) }

func newSettingsView(in pages.Writer, all []Section, q query) settingsView {
	const mostText = 200 // bytes of what is looked for
	q.text, q.section = plaintext.Shorten(q.text, mostText), plaintext.Shorten(q.section, mostText)
	v := settingsView{Path: pathConfig, Query: q.text, in: in}
	found, n := q.chosen(in, all)
	const room = 18_000 // bytes: the frame and the sections have the rest
	v.Shown, v.Left = settingsWithin(found, room)
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
