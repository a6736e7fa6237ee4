package pages

import (
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/urnd/urnd/internal/api"
)

// problemPage is the content of the page of a problem.
type problemPage struct {
	Frame
	Problem *api.Problem
	Heading string
	// Says is what it means for readers, StatusText its status in words, and Detail what is told of it on demand.
	Says       phrase
	StatusText string
	Detail     phrase
	IsMarked   bool   // Input is shown around the offending octet
	Input      marked // where IsMarked
	Record     *recordOfProblem
	// Suggestions are links to what may have been meant, and Opens is one to what a person has to open.
	Suggestions []link
	Opens       link
	// Form is that of the start page, or of /fetch.
	Form    form
	IsFetch bool
}

// phrase is a text with what was said in its place.
type phrase struct {
	Before string
	Said   said
	After  string
}

// plain returns a phrase without a place.
func plain(t text) phrase { return phrase{Before: string(t)} }

// around returns a phrase with something in its place.
func (t text) around(s said) phrase { return phrase{t.Before(), s, t.After()} }

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
	t := w.text()
	p.Detail = shorten(p.Detail)
	detail := phrase{Said: w.stopped(p.Detail)}
	p.Detail = withoutSettings(p.Detail)
	w.fetches = p.MayFetch
	page := problemPage{
		Problem: &p, Heading: w.heading(&p), Says: w.says(&p), Suggestions: w.links(notLong(p.Suggestions)), Detail: detail, IsFetch: p.MayFetch,
	}
	page.StatusText = w.title(&p)
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
		page.Heading, page.Opens = string(t.OpenThis), link{w.opens(p.Opens), p.Retrieves}
	}
	switch {
	case p.Rule == "" || p.Offset == nil:
	case isNoIdentifier(&p): // to mark an octet of any other text would help nobody
		page.Says = plain(t.NoIdentifier)
	default:
		page.IsMarked, page.Input, page.Says = true, markedOf(&p), t.AtMark.around(w.say(p.Detail))
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
	return strings.ToValidUTF8(input[:shownInput], "\uFFFD") + "…"
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
	if known, ok := w.Sentence(p.Title); ok {
		return known
	}
	return p.Title
}

// heading describes a status for readers.
func (w Writer) heading(p *api.Problem) string {
	if p.Forwarded {
		return w.headingOfForwarded(p)
	}
	t, isAddress := w.text(), isAddress(p)
	switch {
	case p.Status == http.StatusBadRequest:
		return string(t.NotValid)
	case p.Status == http.StatusNotImplemented && p.Input != "":
		return string(t.NameNotFound)
	case p.Status == http.StatusNotFound && (isAddress || p.IsPage):
		return string(t.AddressNotFound)
	case p.Status == http.StatusNotFound:
		return string(t.NameNotFound)
	case p.Status == http.StatusGone && isAddress:
		return string(t.AddressGone)
	case p.Status == http.StatusGone:
		return string(t.NameGone)
	case p.Status == http.StatusBadGateway, p.Status == http.StatusGatewayTimeout:
		return string(t.NotNow)
	default:
		return w.title(p)
	}
}

// isAddress reports whether a problem is about a name that is a URL of the web: people call it an address.
func isAddress(p *api.Problem) bool {
	return strings.HasPrefix(p.Input, "https://") || strings.HasPrefix(p.Input, "http://")
}

// says explains a status to readers; technical reasons are shown on demand.
func (w Writer) says(p *api.Problem) phrase {
	if p.Forwarded {
		return w.saysOfForwarded(p)
	}
	t := w.text()
	if p.Denied {
		return t.FetchRefused.around(w.denied())
	}
	switch p.Status {
	case http.StatusNotFound:
		switch {
		case p.Record != nil && p.Record.Status == "reserved":
			return plain(t.Reserved)
		case p.Record != nil:
			return plain(t.NoResource)
		case isAddress(p), p.IsPage:
			return plain(t.NoAddress)
		}
		return plain(t.Nobody)
	case http.StatusGone:
		return plain(t.OwnerWithdrew)
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return plain(t.NoAnswer)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return plain(t.Busy)
	case http.StatusNotImplemented:
		return plain(t.CannotLookUp)
	default:
		return phrase{Said: w.stopped(p.Detail)}
	}
}

// settings matches the settings that decide, behind what is told: they are for administrators.
var settings = regexp.MustCompile(` \([a-z]+(?:\.[a-z0-9_*]+)+(?:, [a-z]+(?:\.[a-z0-9_*]+)+)*\)`)

// withoutSettings returns what is told without the settings that decide.
func withoutSettings(detail string) string { return settings.ReplaceAllString(detail, "") }
