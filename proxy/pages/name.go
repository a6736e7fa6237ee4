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

// Name is the metadata of a name, for its page. All texts are of external origin: none is markup. Unknown
// values are zero.
type Name struct {
	Text string // the name, for display
	// IsAddress is true if the name is an http or https URL: its page may be at a web host whose paths are
	// names.
	IsAddress bool
	Title     string // of the named object
	// State is that of descriptions: located, active, unknown, reserved, gone or unreachable.
	State                  string
	Since, Reason, Contact string // Since is a time of RFC 3339
	IsSandbox              bool
	Successors, Others     []string
	// SuccessorTitles are the titles of the first Successors, "" for unknown ones.
	SuccessorTitles []string
	Targets         []Target // resolved targets
	Links           []Target // other related links
	Versions        []Version
	History         string // path of the complete list of versions; "" if Versions is complete
	Steps           []resolver.Step
	Explain         string // path and query of the page with all steps: see ExplainQuery
	Citation        string
	Formats         []Format
	QR              string // path of the QR code; "" for none
	Properties      [][2]string
	// Language returns the path of this page with a language parameter; nil if it has none.
	Language func(parameter string) string
}

// Target is a target with its metadata.
type Target struct {
	URI, Title, Type, Language, Rel string
	Failing                         bool // its server currently fails
}

// Version is the time of a version of a name, for display, and the path of the name as of that time.
type Version struct{ Time, Path string }

// Format is a format of the metadata of a name, and its path.
type Format struct{ Name, Path string }

// namePage is the data of the page about a name. Lists are rendered before: see markup.
type namePage struct {
	Frame
	Heading, About                                                            string
	Message                                                                   string
	IsInUse                                                                   bool
	Space                                                                     template.HTML // of its namespace
	Since                                                                     string        // the day
	IsWithdrawn, IsSandbox                                                    bool
	Reason                                                                    string
	Contact                                                                   link
	Successors, Targets, Links, Others, Formats, Versions, Trace, Steps, Rows template.HTML
	NotAllTargets                                                             bool
	History, Explain, QR                                                      template.HTMLAttr
	Citation                                                                  string
	Script                                                                    template.HTMLAttr
}

// Name returns the page about a name. It is limited to 30 KB: less important parts are omitted.
func (w Writer) Name(n *Name) Page {
	r, at := newSizeBudget(w, &w.design.names), here
	if n.IsAddress {
		at = host
	}
	heading := r.fit(n.Text, budgetTitle)
	page := namePage{
		Frame: w.frame(plaintext.OneLine(r.fit(cmp.Or(n.Title, n.Text), budgetTitle)), at, ""), Heading: heading,
		About: r.fit(n.Title, budgetText), Message: w.stateOf(n), IsInUse: n.State == "located",
		Space: w.spaceOf(n.Text, at), IsSandbox: n.IsSandbox, IsWithdrawn: n.State == "gone" &&
			n.Since != "", Reason: sentenceOf(r.fit(n.Reason, budgetText)), Contact: r.contact(n.Contact),
	}
	if page.Contact.Text == "" && (n.State == "gone" || n.State == "reserved") {
		page.Contact = contact(w.design.site.Contact)
	}
	page.Head, page.Script = w.design.names.element, w.copies(at)
	page.Since, _, _ = strings.Cut(n.Since, "T")
	page.Targets, page.NotAllTargets = r.targets(n.Targets, budgetTargets)
	page.Successors = r.successors(n)
	page.QR = r.path("src", n.QR)
	page.Citation = r.fit(n.Citation, 2*budgetText)
	page.Rows = r.properties(n.Properties)
	page.Others = r.list(n.Others)
	page.Links = r.related(n.Links)
	page.Formats = r.formats(n.Formats)
	page.Versions, page.History = r.versions(n.Versions), r.path("href", n.History)
	page.Trace, page.Steps = r.trace(n.Steps)
	if n.Explain != "" {
		page.Explain = r.path("href", n.Explain+w.parameter())
	}
	if n.Language != nil {
		page.Languages = w.inLanguages(n.Language)
	}
	return w.execute("name.html", &w.design.names, &page)
}

// LanguagesOf returns the paths of the page about an identifier as the form of the start page requests it;
// nil for a long identifier.
func LanguagesOf(identifier string) func(parameter string) string {
	const longest = 200 // bytes, which each link repeats
	if len(identifier) > longest {
		return nil
	}
	return func(parameter string) string {
		return "/?uri=" + url.QueryEscape(identifier) + "&format=html&" + parameter
	}
}

// stateOf returns the text for the state of a name.
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
	case "active": // without a target
		return w.Text("problem.no_resource")
	default:
		return w.Text("problem.nobody")
	}
}

// spaceOf returns the title of the namespace of a name, linked to its page if possible; "" for none.
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

// PathCopy is the path of the script of copy buttons on the page about a name.
const PathCopy = "/copy.js"

//go:embed copy.js
var copyScript []byte

// CopyScript returns the script. The caller must not modify it.
func CopyScript() []byte { return copyScript }

// copyButton is a button that copies the text of an element.
type copyButton struct {
	Of string // the ID of the element
}

// copies returns the src attribute of the script, "" for a page at a web host, which serves no other
// documents of urnd.
func (w Writer) copies(at place) template.HTMLAttr {
	if at != here {
		return ""
	}
	return template.HTMLAttr(`src="` + template.HTMLEscapeString(w.design.Path(PathCopy)) + `"`) //nolint:gosec // escaped
}

// Copy returns the copy button for an element of the page.
func (p *namePage) Copy(of string) copyButton { return copyButton{of} }
