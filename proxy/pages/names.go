package pages

import (
	"html/template"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver"
)

// Names is a list of names of the registry, with the search. All texts are of external origin.
type Names struct {
	Search resolver.NameSearch // including whether the reader may see all names
	// ErrorCode is the problem code of an invalid search; "" for none.
	ErrorCode string
	List      []ListedName
	// Next is the cursor of the next page, "" at the end, and TimedOut is true if the search reached its time
	// limit.
	Next     string
	TimedOut bool
}

// ListedName is a name in a list.
type ListedName struct {
	Name, Path string // Path is the path of its page
	Title      string
	Host       string // host of its first target, "" for none
	Alias      string // the name that it is an alias of, "" for none
	Status     string // active, reserved or withdrawn
	IsSandbox  bool
}

// Limits of a list of names, in bytes of markup, and of the texts in a row.
const (
	budgetNames = 28_500
	budgetName  = 300
	budgetAbout = 500
)

// pathNames is the path of the list: see package route.
const pathNames = "/names"

// namesPage is the data of a list of names.
type namesPage struct {
	Frame
	Action   template.HTMLAttr
	Chosen   string // the ShortTag of the selected language; "" for none
	Query    resolver.NameSearch
	HasTag   bool
	Statuses []option // nil if it cannot be selected
	Error    template.HTML
	Rows     template.HTML
	Message  string // why there are no rows, or not all
	More     link
}

// option is an option of a select element.
type option struct {
	Value, Label string
	IsChosen     bool
}

// Names returns a page that lists names. It is limited to 30 KB: if not all names fit, the next page begins
// earlier.
func (w Writer) Names(n *Names) Page {
	s := n.Search
	first := !s.Filtered() && s.After == ""
	at := ""
	if first && n.ErrorCode == "" {
		at = pathNames
	}
	page := namesPage{
		Frame: w.frame(w.Text("names.browse"), here, at), Query: s, HasTag: s.Tag != "",
		Chosen: w.form(pathNames, "").Chosen,
	}
	page.Action = w.form(pathNames, "").Action
	page.Head, page.NoIndex = w.design.namesList.element, !first || n.ErrorCode != ""
	if s.All {
		page.Statuses = w.statuses(s.Status)
	}
	const longest = 400 // bytes, which each link repeats
	if target := namesTarget(s, ""); len(target) <= longest {
		page.Languages = w.inLanguages(func(parameter string) string { return namesTarget(s, parameter) })
	}
	if n.ErrorCode != "" {
		page.Error = w.T("error." + n.ErrorCode)
		return w.execute("names.html", &w.design.namesList, page)
	}
	next := w.rows(&page, n)
	switch {
	case n.TimedOut:
		page.Message = w.Text("names.search_late")
	// A search by words only, as the form of the start page submits it.
	case len(n.List) == 0 && s.Words != "" && s == (resolver.NameSearch{Words: s.Words, All: s.All, Client: s.Client}):
		page.Message = w.Text("names.no_title")
	case len(n.List) == 0:
		page.Message = w.Text("listing.empty_results")
	}
	if s.After = next; next != "" {
		word := w.Text("listing.more")
		if n.TimedOut {
			word = w.Text("names.go_on")
		}
		page.More = link{w.href(namesTarget(s, strings.TrimPrefix(w.query(), "?"))), word}
	}
	return w.execute("names.html", &w.design.namesList, page)
}

// capital returns a sentence with an initial capital.
func capital(sentence string) string {
	first, size := utf8.DecodeRuneInString(sentence)
	if size == 0 {
		return sentence
	}
	return string(unicode.ToUpper(first)) + sentence[size:]
}

// rows sets the rows that fit, at least one, and returns the cursor of the next page.
func (w Writer) rows(page *namesPage, n *Names) (next string) {
	room := budgetNames - budgetFrame - len(page.Head)
	for _, repeated := range [...]string{n.Search.Prefix, n.Search.Words, n.Search.Host, n.Search.Tag} {
		room -= 2 * maxEscape * len(repeated) // in the form, and in the link to the next page
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

// maxEscape is the maximum number of bytes of an escaped byte in markup or in a query.
const maxEscape = 5

func (w Writer) row(m *markup, l *ListedName) {
	m.tag("<li><a")
	m.attr("href", w.design.Path(l.Path))
	shown, _ := fitting(l.Name, budgetName)
	if l.Title != "" {
		title, _ := fitting(l.Title, budgetAbout)
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

// factsOf returns the text about the status and the target of a name.
func (w Writer) factsOf(l *ListedName) string {
	var texts []string
	switch {
	case l.Alias != "":
		shown, _ := fitting(l.Alias, budgetName)
		texts = append(texts, w.Text("names.another_name", "Name", shown))
	case l.Host != "":
		shown, _ := fitting(l.Host, budgetName)
		texts = append(texts, w.Text("names.targets_on_host", "Host", shown))
	}
	switch l.Status {
	case "reserved":
		texts = append(texts, w.Text("names.status_reserved"))
	case "withdrawn":
		texts = append(texts, w.Text("names.status_withdrawn"))
	}
	if l.IsSandbox {
		texts = append(texts, w.Text("names.for_trial"))
	}
	return strings.Join(texts, " · ")
}

// statuses returns the options of the status.
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

// namesTarget returns the URL of a list, with another parameter, "" for none.
func namesTarget(s resolver.NameSearch, parameter string) string {
	var all []string
	for _, field := range [...][2]string{
		{"prefix", s.Prefix},
		{"q", s.Words},
		{"host", s.Host},
		{"tag", s.Tag},
		{"status", s.Status},
		{"after", s.After},
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
