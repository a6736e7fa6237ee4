package pages

import (
	"html/template"
	"math"
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

// problemPage is the data of the page of a problem.
type problemPage struct {
	Frame
	Problem *api.Problem
	Heading string
	// Message explains the problem to readers, StatusText is the status code with its reason phrase, and Reason
	// are the details on demand.
	Message    template.HTML
	StatusText string
	Rule       string // the violated rule with its section; Offset is the position
	Offset     int
	Reason     template.HTML
	IsMarked   bool   // Input is shown split at the invalid character
	Input      marked // if IsMarked
	Record     *recordOfProblem
	// Suggestions are links to identifiers that were probably intended, and Opens is a link that needs user
	// activation.
	Suggestions template.HTML
	Opens       link
	// Form is that of the start page, or of /fetch.
	Form    form
	IsFetch bool
}

// recordOfProblem is the registry entry of a name that does not resolve.
type recordOfProblem struct {
	IsWithdrawn, IsSandbox bool
	Since                  string // the day
	Reason                 string // as the end of a sentence
	Successors             []link // names that replace it
	IsCut                  bool   // not all of them fit
	About, Citation        string
	More                   template.HTMLAttr // of the link to the page about the name; "" for none
	Contact                link              // without href if it is no location
}

// Problem returns the page of an error.
func (w Writer) Problem(p api.Problem) Page {
	p.More = shorten(p.More)
	w.fetches = p.MayFetch
	suggestions, room := within(w.links(notLong(p.Suggestions)), budgetProblem)
	page := problemPage{
		Problem: &p, Heading: w.heading(&p), Message: w.problemMessage(&p),
		Suggestions: listed(suggestions), Reason: w.reason(&p), IsFetch: p.MayFetch,
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
		reason, _ := fitting(r.Reason, budgetText)
		successors, _ := within(w.links(r.Successors), room)
		page.Record = &recordOfProblem{
			IsWithdrawn: r.Status == "withdrawn", IsSandbox: r.Sandbox, Since: since, Reason: sentenceOf(reason),
			Successors: successors, IsCut: len(successors) < len(r.Successors), Contact: w.asked(r.Contact),
		}
		page.Record.About, _ = fitting(p.Called, budgetText)
		page.Record.Citation, _ = fitting(p.Citation, budgetText)
		if p.Page != "" {
			page.Record.More = w.href(p.Page)
		}
	}
	if p.Retrieves != "" {
		page.Heading, page.Opens = w.Text("problem.open_this"), link{w.opens(p.Opens), p.Retrieves}
	}
	switch {
	case p.Rule == "" || p.Offset == nil:
	case isNoIdentifier(&p): // marking a character of such a text would not help
		page.Message = w.T("problem.no_identifier")
	default:
		page.IsMarked, page.Input, page.Message = true, markedOf(&p),
			w.T("problem.at_mark", "Reason", w.Rule(p.RuleCode, p.RuleValue))
	}
	page.Frame = w.frame(page.Heading, placeOf(&p), "")
	p.Input = shorten(p.Input)
	const longest = 200 // bytes, which each link repeats
	if page.Start != "" && typed != "" && len(typed) <= longest {
		page.Languages = w.inLanguages(func(parameter string) string {
			// The language parameter follows the name: in front of it, a web host whose paths are names would
			// take the query for a name.
			return path + "?uri=" + url.QueryEscape(typed) + "&" + parameter
		})
	}
	return w.execute("problem.html", &w.design.page, page)
}

// isNoIdentifier reports whether the typed text has no scheme, so that it does not resemble a URI.
func isNoIdentifier(p *api.Problem) bool {
	if p.Typed == "" || p.Fetched || p.Typed != p.Input {
		return false
	}
	end := strings.IndexFunc(p.Typed,
		func(c rune) bool { return c > unicode.MaxASCII || strings.ContainsRune(":/?# ", c) })
	return end < 0 || p.Typed[end] != ':'
}

// asked returns the contact for a name: that of its entry, otherwise that of the site.
func (w Writer) asked(of string) link {
	shown, _ := fitting(of, budgetText)
	if shown == "" {
		return contact(w.design.site.Contact)
	}
	if shown != of { // too long for a link
		return link{Text: shown}
	}
	return contact(of)
}

// Limits of an identifier in bytes: longInput for its full length in links and in the form, and shownInput
// for what is shown of longer ones. A request target may be much longer than a page should be.
const (
	longInput  = 1024
	shownInput = 256
)

// budgetProblem limits the links to suggestions and successors, in bytes of markup.
const budgetProblem = 7_500

// within returns the first links whose markup fits in so many bytes, and the bytes that are left.
func within(all []link, most int) (fits []link, left int) {
	const around = len(`<li><a ><code dir="auto"></code></a></li>`)
	for i := range all {
		_, size := fitting(all[i].Text, math.MaxInt)
		if size += len(all[i].Href) + around; size > most {
			return all[:i], most
		}
		most -= size
	}
	return all, most
}

// notLong returns the identifiers that are short enough for a link.
func notLong(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(one string) bool { return len(one) > longInput })
}

// shorten returns an input, cut if it is too long.
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

// opens returns the href attribute of a link that needs user activation: "" is the URL of the page itself.
func (w Writer) opens(target string) template.HTMLAttr {
	if target == "" {
		return hrefOf("")
	}
	return w.href(target)
}

// placeOf returns the kind of URL of the page of a problem.
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

// title returns the reason phrase of the status of a problem.
func (w Writer) title(p *api.Problem) string {
	if id := "status." + strconv.Itoa(p.Status); w.Has(id) {
		return w.Text(id)
	}
	return p.Title
}

// reason returns the reason of a problem: the message of its code, and the syntax rule that an identifier
// violates.
func (w Writer) reason(p *api.Problem) template.HTML {
	reason := w.Message(p.Code, p.Values...)
	if p.RuleCode != "" {
		reason += " " + w.Rule(p.RuleCode, p.RuleValue)
	}
	return reason
}

// Message returns the message of an error code with its values, pairs of a name and a text of external origin.
// The value of Reason is in English.
func (w Writer) Message(code string, values ...string) Content {
	return w.T("error."+code, valuesOf(values, w.asElement)...)
}

// Rule returns the message of a syntax rule, by the code and the value of a uri.Rule.
func (w Writer) Rule(code, value string) template.HTML {
	if value == "" {
		return w.T("rule." + code)
	}
	return w.T("rule."+code, "Value", Bdi(shorten(value)))
}

// valuesOf returns the values of a message, pairs of a name and a value; show formats each value.
func valuesOf[V any](pairs []V, show func(name, value any) any) []any {
	values := make([]any, len(pairs))
	for i, value := range pairs {
		if values[i] = value; i%2 == 1 {
			values[i] = show(pairs[i-1], value)
		}
	}
	return values
}

// asElement formats a value of a message as HTML. The reply of a server is in an unknown language.
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

// sentenceOf returns a text with a full stop at its end.
func sentenceOf(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".?!") {
		return text
	}
	return text + "."
}

// codeNotRegistered is the code for a name, token or change set that an editor or a program has requested
// from the registry itself. No other system was queried.
const codeNotRegistered = "entry_unknown"

// heading returns the heading for the status of a problem.
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

// isAddress reports whether a problem concerns a name that is an http or https URL; the texts call it an
// address.
func isAddress(p *api.Problem) bool {
	return strings.HasPrefix(p.Input, "https://") || strings.HasPrefix(p.Input, "http://")
}

// problemMessage explains the status of a problem to readers; technical details are shown on demand.
func (w Writer) problemMessage(p *api.Problem) template.HTML {
	if p.Forwarded {
		return w.forwardedMessage(p)
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
