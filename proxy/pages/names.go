package pages

import (
	"html/template"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver"
)

// Names is a list of names of the registry, with what a reader has searched for. All texts are those of readers and of the registry.
type Names struct {
	Search resolver.NameSearch // with whether the reader may see all names
	// Fault is why nothing was searched, as the code of a problem; "" where it was.
	Fault string
	List  []ListedName
	// Next is where to go on, "" for the end, and IsLate whether the search ended because of its time.
	Next   string
	IsLate bool
}

// ListedName is a name in a list.
type ListedName struct {
	Name, Path string // Path is that of its page
	Title      string
	Host       string // where it leads, "" for nowhere
	Alias      string // what it is another name of, "" for none
	Status     string // active, reserved or withdrawn
	IsSandbox  bool
}

// What a list of names has room for, in octets of markup, and of what a row repeats.
const (
	roomNames = 28_500
	roomName  = 300
	roomAbout = 500
)

// pathNames is that of package route.
const pathNames = "/names"

// namesPage is the content of a list of names.
type namesPage struct {
	Frame
	Action   template.HTMLAttr
	Chosen   string // the language that was chosen, as its word; "" for none
	Asked    resolver.NameSearch
	HasTag   bool
	Statuses []option // nil where there is no choice
	Fault    template.HTML
	Rows     template.HTML
	Says     string // where there are no rows, or not all
	More     link
}

// option is one of a choice.
type option struct {
	Value, Word string
	IsChosen    bool
}

// Names returns a page that lists names. It has at most 30 KB: where there is no room for all of them, the next page begins sooner.
func (w Writer) Names(n *Names) Page {
	s := n.Search
	isFirst := !s.IsFiltered() && s.After == ""
	at := ""
	if isFirst && n.Fault == "" {
		at = pathNames
	}
	page := namesPage{Frame: w.frame(w.Text("names.browse"), here, at), Asked: s, HasTag: s.Tag != "", Chosen: w.form(pathNames, "").Chosen}
	page.Action = w.form(pathNames, "").Action
	page.Head, page.IsUnindexed = w.design.namesList.element, !isFirst || n.Fault != ""
	if s.All {
		page.Statuses = w.statuses(s.Status)
	}
	const longest = 400 // octets, which each link repeats
	if target := namesTarget(s, ""); len(target) <= longest {
		page.Languages = w.inLanguages(func(parameter string) string { return namesTarget(s, parameter) })
	}
	if n.Fault != "" {
		page.Fault = w.T("error." + n.Fault)
		return w.execute("names.html", &w.design.namesList, page)
	}
	next := w.rows(&page, n)
	switch {
	case n.IsLate:
		page.Says = w.Text("names.search_late")
	case len(n.List) == 0 && s.Words != "" && s == (resolver.NameSearch{Words: s.Words, All: s.All, Client: s.Client}): // as the front page looks for it
		page.Says = w.Text("names.no_title")
	case len(n.List) == 0:
		page.Says = w.Text("listing.empty_results")
	}
	if s.After = next; next != "" {
		word := w.Text("listing.more")
		if n.IsLate {
			word = w.Text("names.go_on")
		}
		page.More = link{w.href(namesTarget(s, strings.TrimPrefix(w.query(), "?"))), word}
	}
	return w.execute("names.html", &w.design.namesList, page)
}

// capital returns a sentence with a capital at its beginning.
func capital(sentence string) string {
	first, size := utf8.DecodeRuneInString(sentence)
	if size == 0 {
		return sentence
	}
	return string(unicode.ToUpper(first)) + sentence[size:]
}

// rows sets the rows that there is room for, one at least, and returns where to go on.
func (w Writer) rows(page *namesPage, n *Names) (next string) {
	room := roomNames - roomFrame - len(page.Head)
	for _, repeated := range [...]string{n.Search.Prefix, n.Search.Words, n.Search.Host, n.Search.Tag} {
		room -= 2 * maxEscape * len(repeated) // in the form, and in the link to what follows
	}
	room -= maxEscape * len(n.Next)
	var m markup
	next = n.Next
	for i := range n.List {
		before := len(m)
		w.row(&m, &n.List[i])
		if len(m) > room && i > 0 {
			m, next = m[:before], n.List[i-1].Name
			break
		}
	}
	page.Rows = m.html()
	return next
}

// maxEscape is how many octets one may have in markup or in a query.
const maxEscape = 5

func (w Writer) row(m *markup, l *ListedName) {
	m.tag("<li><a")
	m.attr("href", w.design.Path(l.Path))
	shown, _ := fitting(l.Name, roomName)
	if l.Title != "" {
		title, _ := fitting(l.Title, roomAbout)
		m.tag("><bdi>")
		m.text(title)
		m.tag(`</bdi></a> <code dir="auto">`)
		m.text(shown)
		m.tag("</code>")
	} else {
		m.tag(`><code dir="auto">`)
		m.text(shown)
		m.tag("</code></a>")
	}
	if about := w.factsOf(l); about != "" {
		m.tag(" <small>")
		m.text(about)
		m.tag("</small>")
	}
	m.tag("</li>\n")
}

// factsOf says what a name is, and where it leads.
func (w Writer) factsOf(l *ListedName) string {
	var says []string
	switch {
	case l.Alias != "":
		shown, _ := fitting(l.Alias, roomName)
		says = append(says, w.Text("names.another_name", "Name", shown))
	case l.Host != "":
		shown, _ := fitting(l.Host, roomName)
		says = append(says, w.Text("names.leads_to_host", "Host", shown))
	}
	switch l.Status {
	case "reserved":
		says = append(says, w.Text("names.status_reserved"))
	case "withdrawn":
		says = append(says, w.Text("names.status_withdrawn"))
	}
	if l.IsSandbox {
		says = append(says, w.Text("names.for_trial"))
	}
	return strings.Join(says, " · ")
}

// statuses returns the choice of a status.
func (w Writer) statuses(chosen string) []option {
	all := []option{
		{"", w.Text("names.status_any"), false},
		{"active", w.Text("names.status_active"), false},
		{"reserved", w.Text("names.status_reserved"), false},
		{"withdrawn", w.Text("names.status_withdrawn"), false},
	}
	for i := range all {
		all[i].IsChosen = all[i].Value == chosen
	}
	return all
}

// namesTarget returns the target of a list, with another parameter, "" for none.
func namesTarget(s resolver.NameSearch, parameter string) string {
	var all []string
	for _, field := range [...][2]string{
		{"prefix", s.Prefix}, {"q", s.Words}, {"host", s.Host}, {"tag", s.Tag}, {"status", s.Status}, {"after", s.After},
	} {
		if field[1] != "" {
			all = append(all, field[0]+"="+url.QueryEscape(field[1]))
		}
	}
	if parameter != "" {
		all = append(all, parameter)
	}
	if all == nil {
		return pathNames
	}
	return pathNames + "?" + strings.Join(all, "&")
}
