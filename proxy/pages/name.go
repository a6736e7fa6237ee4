package pages

import (
	"cmp"
	_ "embed"
	"html/template"
	"net/url"
	"strings"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver"
)

// Name is what is known of a name, for its page. All texts are those of the registry, of servers or of clients: none of them is markup.
// What is not known is zero.
type Name struct {
	Text string // the name, as it is displayed
	// IsAddress is whether the name is a URL of the web: its page may be at a web host whose paths are names.
	IsAddress bool
	Title     string // what it names
	// State is as in descriptions: located, unknown, reserved, gone or unreachable.
	State                  string
	Since, Reason, Contact string // Since is a time of RFC 3339
	IsSandbox              bool
	Successors, Others     []string
	// SuccessorTitles are the titles of the first Successors, "" for those that are not known.
	SuccessorTitles []string
	Targets         []Target // where it leads
	Links           []Target // what else belongs to it
	Versions        []Version
	History         string // the path of all versions; "" where there are no more than those
	Steps           []resolver.Step
	Explain         string // the path and query of the page that has all steps: see ExplainQuery
	Citation        string
	Formats         []Format
	QR              string // the path of the picture; "" for none
	Properties      [][2]string
	// Language returns the path of this page by the parameter lang; nil where there is none.
	Language func(parameter string) string
}

// Target is a location with what is known of it.
type Target struct {
	URI, Title, Type, Language, Rel string
	IsFailing                       bool // its server does not answer now
}

// Version is a time at which the registry changed what it says of a name, as it is shown, and the path of how the name was then.
type Version struct{ Time, Path string }

// Format is a format of what is known of a name, and its path.
type Format struct{ Name, Path string }

// namePage is a page about a name. Lists are markup that was made before: see markup.
type namePage struct {
	Frame
	Heading, About                                                          string
	Says                                                                    string
	IsInUse                                                                 bool
	Space                                                                   template.HTML // its namespace
	Since                                                                   string        // the day
	IsWithdrawn, IsSandbox                                                  bool
	Reason                                                                  string
	Contact                                                                 link
	Successors, Targets, Links, Others, Formats, Versions, Way, Steps, Rows template.HTML
	NotAllTargets                                                           bool
	History, Explain, QR                                                    template.HTMLAttr
	Citation                                                                string
	Script                                                                  template.HTMLAttr
}

// Name returns the page about a name. It has at most 30 KB, whatever is known of the name: what matters least is left out.
func (w Writer) Name(n *Name) Page {
	r, at := newRoom(w, &w.design.names), here
	if n.IsAddress {
		at = host
	}
	heading := r.fit(n.Text, roomTitle)
	page := namePage{
		Frame: w.frame(plaintext.OneLine(r.fit(cmp.Or(n.Title, n.Text), roomTitle)), at, ""), Heading: heading, About: r.fit(n.Title, roomText), Says: w.stateOf(n),
		IsInUse: n.State == "located", Space: w.spaceOf(n.Text, at), IsSandbox: n.IsSandbox, IsWithdrawn: n.State == "gone" && n.Since != "",
		Reason: sentenceOf(r.fit(n.Reason, roomText)), Contact: r.contact(n.Contact),
	}
	if page.Contact.Text == "" && (n.State == "gone" || n.State == "reserved") {
		page.Contact = contact(w.design.site.Contact)
	}
	page.Head, page.Script = w.design.names.element, w.copies(at)
	page.Since, _, _ = strings.Cut(n.Since, "T")
	page.Targets, page.NotAllTargets = r.targets(n.Targets, roomTargets)
	page.Successors = r.successors(n)
	page.QR = r.path("src", n.QR)
	page.Citation = r.fit(n.Citation, 2*roomText)
	page.Rows = r.properties(n.Properties)
	page.Others = r.list(n.Others)
	page.Links = r.related(n.Links)
	page.Formats = r.formats(n.Formats)
	page.Versions, page.History = r.versions(n.Versions), r.path("href", n.History)
	page.Way, page.Steps = r.way(n.Steps)
	if n.Explain != "" {
		page.Explain = r.path("href", n.Explain+w.parameter())
	}
	if n.Language != nil {
		page.Languages = w.inLanguages(n.Language)
	}
	return w.execute("name.html", &w.design.names, &page)
}

// LanguagesOf returns the paths of a page about an identifier that the form of the front page leads to; nil where it is too long.
func LanguagesOf(identifier string) func(parameter string) string {
	const longest = 200 // octets, which each link repeats
	if len(identifier) > longest {
		return nil
	}
	return func(parameter string) string {
		return "/?uri=" + url.QueryEscape(identifier) + "&format=html&" + parameter
	}
}

// stateOf says in words what the state of a name is.
func (w Writer) stateOf(n *Name) string {
	switch n.State {
	case "located":
		return w.Text("name.in_use")
	case "reserved":
		return w.Text("problem.reserved")
	case "gone":
		return w.Text("problem.owner_withdrew")
	case "unreachable":
		return w.Text("problem.no_answer")
	case "active": // without a location
		return w.Text("problem.no_resource")
	default:
		return w.Text("problem.nobody")
	}
}

// spaceOf returns the title of the namespace of a name, with a link where its page is; "" where none has a title.
func (w Writer) spaceOf(name string, at place) template.HTML {
	if !isURN(name) {
		return ""
	}
	nid, _, _ := strings.Cut(strings.ToLower(name[len("urn:"):]), ":")
	ns := w.design.namespace(nid)
	if ns == nil {
		return ""
	}
	return w.space(ns, at == here).Title
}

// PathCopy is the path of the script by which buttons copy, on the page about a name.
const PathCopy = "/copy.js"

//go:embed copy.js
var copyScript []byte

// CopyScript returns the script. The caller must not change it.
func CopyScript() []byte { return copyScript }

// copyButton is a button that copies what an element says.
type copyButton struct {
	Of string // the ID of the element
}

// copies returns the attribute of the script, "" where a page is at a host that has no document of this server.
func (w Writer) copies(at place) template.HTMLAttr {
	if at != here {
		return ""
	}
	return template.HTMLAttr(`src="` + template.HTMLEscapeString(w.design.Path(PathCopy)) + `"`) //nolint:gosec // escaped
}

// Copy returns the button for an element of the page.
func (p *namePage) Copy(of string) copyButton { return copyButton{of} }
