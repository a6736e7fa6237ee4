package pages

import (
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/uri"
)

// problemPage is the content of the page of a problem.
type problemPage struct {
	Frame
	Problem *api.Problem
	Heading string
	// Says is what it means for readers, StatusText its status in words, and Reason what is told of it on demand.
	Says       template.HTML
	StatusText string
	Rule       string // with its section, of which the octet Offset breaks it
	Offset     int
	Reason     template.HTML
	IsMarked   bool   // Input is shown around the offending octet
	Input      marked // where IsMarked
	Record     *recordOfProblem
	// Suggestions are links to what may have been meant, and Opens is one to what a person has to open.
	Suggestions template.HTML
	Opens       link
	// Form is that of the start page, or of /fetch.
	Form    form
	IsFetch bool
}

// recordOfProblem is what the registry of the site has of a name that leads nowhere.
type recordOfProblem struct {
	IsWithdrawn, IsSandbox bool
	Since                  string // the day
	Reason                 string // as the end of a sentence
	Successors             []link // what came instead
	About, Citation        string
	More                   template.HTMLAttr // of the link to the page about the name; "" for none
	Contact                link              // whom to ask, without attribute where it is no location
}

// Problem returns the page of an error.
func (w Writer) Problem(p api.Problem) Page {
	p.More = shorten(p.More)
	w.fetches = p.MayFetch
	page := problemPage{
		Problem: &p, Heading: w.heading(&p), Says: w.says(&p), Suggestions: listed(w.links(notLong(p.Suggestions))), Reason: w.reason(&p), IsFetch: p.MayFetch,
	}
	page.StatusText = strings.TrimSpace(strconv.Itoa(p.Status) + " " + w.title(&p))
	if p.Offset != nil {
		page.Rule, page.Offset = p.Rule+" ("+p.Section+")", *p.Offset
	}
	typed := p.Typed
	if typed == "" {
		typed = p.Input
	}
	path := "/"
	if p.MayFetch {
		path = pathFetch
	}
	if len(typed) > longInput {
		typed = ""
	}
	page.Form = w.form(path, typed)
	if r := p.Record; r != nil {
		since, _, _ := strings.Cut(r.Since, "T")
		page.Record = &recordOfProblem{
			IsWithdrawn: r.Status == "withdrawn", IsSandbox: r.Sandbox, Since: since, Reason: sentenceOf(r.Reason),
			Successors: w.links(r.Successors), Contact: w.asked(r.Contact),
		}
		page.Record.About, _ = fitting(p.Called, roomText)
		page.Record.Citation, _ = fitting(p.Citation, roomText)
		if p.Page != "" {
			page.Record.More = w.href(p.Page)
		}
	}
	if p.Retrieves != "" {
		page.Heading, page.Opens = w.Text("problem.open_this"), link{w.opens(p.Opens), p.Retrieves}
	}
	switch {
	case p.Rule == "" || p.Offset == nil:
	case isNoIdentifier(&p): // to mark an octet of any other text would help nobody
		page.Says = w.T("problem.no_identifier")
	default:
		page.IsMarked, page.Input, page.Says = true, markedOf(&p), w.T("problem.at_mark", "Reason", w.Rule(p.RuleCode, p.RuleValue))
	}
	page.Frame = w.frame(page.Heading, placeOf(&p), "")
	p.Input = shorten(p.Input)
	const longest = 200 // octets, which each link repeats
	if page.Start != "" && typed != "" && len(typed) <= longest {
		page.Languages = w.inLanguages(func(parameter string) string {
			// The parameter is behind the name: before it, a web host whose paths are names would take the query for one.
			return path + "?uri=" + url.QueryEscape(typed) + "&" + parameter
		})
	}
	return w.execute("problem.html", &w.design.page, page)
}

// isNoIdentifier reports whether what was typed has no scheme, and so is not nearly a URI.
func isNoIdentifier(p *api.Problem) bool {
	if p.Typed == "" || p.Fetched || p.Typed != p.Input {
		return false
	}
	end := strings.IndexFunc(p.Typed, func(c rune) bool { return c > unicode.MaxASCII || strings.ContainsRune(":/?# ", c) })
	return end < 0 || p.Typed[end] != ':'
}

// asked returns whom to ask about a name: whom its record names, else whom readers of the site ask.
func (w Writer) asked(of string) link {
	shown, _ := fitting(of, roomText)
	if shown == "" {
		return contact(w.design.site.Contact)
	}
	if shown != of { // too long for a link
		return link{Text: shown}
	}
	return contact(of)
}

// The longest identifier that a page has in full, in links and in its form, and how much of longer ones it shows, in octets: a
// target may be much longer than a page should be.
const (
	longInput  = 1024
	shownInput = 256
)

// notLong returns the identifiers that a page has links to.
func notLong(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(one string) bool { return len(one) > longInput })
}

// shorten returns an input as it is shown.
func shorten(input string) string {
	if len(input) <= longInput {
		return input
	}
	return plaintext.Shorten(input, shownInput)
}

// listed returns links as part of a sentence.
func listed(all []link) template.HTML {
	shown := make([]string, 0, len(all))
	for _, l := range all {
		shown = append(shown, string(l.Code()))
	}
	return template.HTML(strings.Join(shown, ", ")) //nolint:gosec // of elements
}

// opens returns the attribute of a link that a person opens: "" is the address of the page itself.
func (w Writer) opens(target string) template.HTMLAttr {
	if target == "" {
		return hrefOf("")
	}
	return w.href(target)
}

// placeOf returns where the page of a problem is shown.
func placeOf(p *api.Problem) place {
	switch {
	case p.Forwarded && !p.Fetched:
		return elsewhere
	case isAddress(p):
		return host
	default:
		return here
	}
}

// title returns the status of a problem in words.
func (w Writer) title(p *api.Problem) string {
	if id := "status." + strconv.Itoa(p.Status); w.Has(id) {
		return w.Text(id)
	}
	return p.Title
}

// reason says why something failed: by the code of a problem, and of an identifier by the rule that is broken.
func (w Writer) reason(p *api.Problem) template.HTML {
	reason := w.Says(p.Code, p.Values...)
	if p.RuleCode != "" {
		reason += " " + w.Rule(p.RuleCode, p.RuleValue)
	}
	return reason
}

// Says says why something failed, by the code of an error and the values of its message, which are texts of others: pairs of a name and a text.
// The text of Reason is in English.
func (w Writer) Says(code string, values ...string) Content {
	return w.T("error."+code, valuesOf(values, w.asElement)...)
}

// Rule says what a rule of syntax requires, by the code and the value that uri.Rule has.
func (w Writer) Rule(code, value string) template.HTML {
	if value == "" {
		return w.T("rule." + code)
	}
	return w.T("rule."+code, "Value", Bdi(shorten(value)))
}

// valuesOf returns the values of a message, of pairs of a name and a value, as a function shows each value.
func valuesOf[V any](pairs []V, show func(name, value any) any) []any {
	values := make([]any, len(pairs))
	for i, value := range pairs {
		if values[i] = value; i%2 == 1 {
			values[i] = show(pairs[i-1], value)
		}
	}
	return values
}

// asElement returns a value of a message for HTML. What a server has said is in a language that nobody knows.
func (w Writer) asElement(name, value any) any {
	switch v := value.(type) {
	case uri.Rule:
		return w.Rule(v.Code, v.Value)
	case time.Duration:
		return w.lasting(v)
	case string:
		switch name {
		case "Reason":
			return w.InEnglish(sentenceOf(shorten(v)))
		case "Reply":
			return template.HTML(`<bdi lang="">` + template.HTMLEscapeString(shorten(v)) + "</bdi>") //nolint:gosec // escaped
		}
		return Bdi(shorten(v))
	}
	return value
}

// asText is asElement for a place without elements.
func (w Writer) asText(_, value any) any {
	switch v := value.(type) {
	case uri.Rule:
		return w.Text("rule."+v.Code, "Value", Isolated(shorten(v.Value)))
	case time.Duration:
		return w.lasting(v)
	case string:
		return Isolated(shorten(v))
	}
	return value
}

// sentenceOf returns a text with the stop that it may have already.
func sentenceOf(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".?!") {
		return text
	}
	return text + "."
}

// codeNotRegistered is the code of what editors and programs asked the registry itself for: a name, a token, a set of changes. Nobody else was
// asked for it.
const codeNotRegistered = "entry_unknown"

// heading describes a status for readers.
func (w Writer) heading(p *api.Problem) string {
	if p.Forwarded {
		return w.headingOfForwarded(p)
	}
	isAddress := isAddress(p)
	switch {
	case p.Status == http.StatusBadRequest:
		return w.Text("problem.not_valid")
	case p.Status == http.StatusNotImplemented && p.Input != "":
		return w.Text("problem.name_not_found")
	case p.Code == codeNotRegistered:
		return w.title(p)
	case p.Status == http.StatusNotFound && (isAddress || p.IsPage):
		return w.Text("problem.address_not_found")
	case p.Status == http.StatusNotFound:
		return w.Text("problem.name_not_found")
	case p.Status == http.StatusGone && isAddress:
		return w.Text("problem.address_gone")
	case p.Status == http.StatusGone:
		return w.Text("problem.name_gone")
	case p.Status == http.StatusBadGateway, p.Status == http.StatusGatewayTimeout:
		return w.Text("problem.not_now")
	default:
		return w.title(p)
	}
}

// isAddress reports whether a problem is about a name that is a URL of the web: people call it an address.
func isAddress(p *api.Problem) bool {
	return strings.HasPrefix(p.Input, "https://") || strings.HasPrefix(p.Input, "http://")
}

// says explains a status to readers; technical reasons are shown on demand.
func (w Writer) says(p *api.Problem) template.HTML {
	if p.Forwarded {
		return w.saysOfForwarded(p)
	}
	if p.Denied {
		return w.T("proxied.fetch_refused", "Reason", w.T("proxied.denied"))
	}
	switch p.Status {
	case http.StatusNotFound:
		switch {
		case p.Code == codeNotRegistered:
			return w.T("problem.not_registered")
		case p.Record != nil && p.Record.Status == "reserved":
			return w.T("problem.reserved")
		case p.Record != nil:
			return w.T("problem.no_resource")
		case isAddress(p), p.IsPage:
			return w.T("problem.no_address")
		}
		return w.T("problem.nobody")
	case http.StatusGone:
		return w.T("problem.owner_withdrew")
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return w.T("problem.no_answer")
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return w.T("problem.busy")
	case http.StatusNotImplemented:
		return w.T("problem.cannot_look_up")
	default:
		return w.reason(p)
	}
}
