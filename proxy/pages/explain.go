package pages

import (
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver"
)

// Explanation is the resolution trace of a name, for its page. It contains the steps that the reader may see.
// All texts are of external origin: none is markup.
type Explanation struct {
	Name      string // as requested
	IsAddress bool   // the name is an http or https URL: see Name
	Steps     []resolver.Step
	Targets   []Target // the resolved targets
	// Problem is why the name does not resolve; nil if it does.
	Problem *api.Problem
	// Query is the query of this page, with its question mark, and Path its path; About is the path of the
	// page about the name, "" for none.
	Path, Query, About string
}

// Limits of the page, in bytes of markup.
const (
	budgetExplained = 9_000
	budgetRules     = 9_500
	mostExplained   = 40
	longestInLinks  = 300 // bytes of a query that is repeated in links
)

// explainPage is the data of the page of an explanation.
type explainPage struct {
	Frame
	Heading      string
	Message      template.HTML
	IsFailed     bool
	Reason       template.HTML
	More         string // additional text in English
	Trace, Steps template.HTML
	IsCut        bool
	Targets      template.HTML
	JSON, About  template.HTMLAttr
}

// Explain returns the page of a resolution trace. It is limited to 30 KB: of a long trace it shows the first
// steps. The JSON document has all of them.
func (w Writer) Explain(e *Explanation) Page {
	r, at := newSizeBudget(w, &w.design.traces), here
	if e.IsAddress {
		at = host
	}
	heading := r.fit(e.Name, budgetTitle)
	page := explainPage{Frame: w.frame(w.Text("name.how_resolved")+w.Text("frame.colon")+plaintext.OneLine(heading), at,
		""), Heading: heading, Message: w.T("explain.intro")}
	page.Head = w.design.traces.element
	boxes := []traceBox{{head: w.Text("listing.name"), class: traceEnd}}
	boxes[0].add(e.Name, 3)
	if e.Problem != nil {
		short := w.shortened(e.Problem)
		page.IsFailed, page.Message, page.Reason, page.More = true, w.problemMessage(short), w.reason(short), short.More
	}
	steps := e.Steps[:min(len(e.Steps), mostExplained)]
	page.Steps, page.IsCut = r.items(budgetRules, len(steps), func(m *markup, i int) { r.explained(m, &steps[i]) })
	page.IsCut = page.IsCut || len(steps) < len(e.Steps)
	if !page.IsCut {
		page.Targets, _ = r.targets(e.Targets, budgetList)
	}
	for i := range min(len(steps), strings.Count(string(page.Steps), "</li>")) {
		boxes = append(boxes, w.fully(&steps[i]))
	}
	if !page.IsCut {
		boxes = append(boxes, w.end(e))
	}
	page.Trace = r.draw(boxes, budgetExplained)
	page.JSON, page.About = r.path("href", e.Path+e.Query+"&format=json"), r.path("href", w.aboutName(e))
	if len(e.Query) <= longestInLinks {
		page.Languages = w.inLanguages(func(parameter string) string { return e.Path + e.Query + "&" + parameter })
	}
	return w.execute("explain.html", &w.design.traces, page)
}

// aboutName returns the path of the page about the name of an explanation, in the selected language. The
// query of a service is a URI, to which no parameter can be added, so the path is that of the form.
func (w Writer) aboutName(e *Explanation) string {
	if at := LanguagesOf(e.Name); e.About != "" && w.chosen && at != nil {
		return at(strings.TrimPrefix(w.query(), "?"))
	}
	return e.About
}

// shortened returns a problem with values that fit in the page.
func (w Writer) shortened(p *api.Problem) *api.Problem {
	short := *p
	short.More, _ = fitting(p.More, budgetText)
	short.RuleValue, _ = fitting(p.RuleValue, budgetText)
	short.Values = slices.Clone(p.Values)
	for i, value := range p.Values {
		short.Values[i], _ = fitting(value, budgetText/3)
	}
	return &short
}

// explained appends a step as a list item, with all parts of a rule.
func (r *sizeBudget) explained(m *markup, s *resolver.Step) {
	if s.Rule == nil {
		m.tag("<li>")
		r.step(m, s, budgetText)
		m.tag("</li>\n")
		return
	}
	rule := s.Rule
	m.tag("<li")
	if rule.Use != resolver.RuleUsed {
		m.tag(` class="unused"`)
	}
	m.tag("><b>")
	domain, _ := fitting(rule.Domain, budgetText/2)
	m.element(r.T("explain.rule_of", "Domain", Bdi(domain)))
	m.tag("</b> <small>")
	m.text(r.useOf(rule))
	m.tag("</small><dl>")
	for _, row := range r.partsOf(rule) {
		m.tag("<dt>")
		m.text(row[0])
		m.tag(`</dt><dd dir="auto">`)
		part, _ := fitting(row[1], budgetText/2)
		m.text(part)
		m.tag("</dd>")
	}
	m.tag("</dl></li>\n")
}

// inEnglish marks an element with English text on a page in another language.
func (r *sizeBudget) inEnglish(m *markup) {
	if r.language != English {
		m.tag(` lang="en"`)
	}
}

// useOf returns the text whether a rule was used.
func (w Writer) useOf(rule *resolver.Rule) string {
	return w.Text([...]string{
		resolver.RuleUsed: "explain.rule_used", resolver.RulePossible: "explain.rule_possible",
		resolver.RuleSkipped: "explain.rule_skipped",
	}[rule.Use])
}

// partsOf returns the non-empty parts of a rule with their labels.
func (w Writer) partsOf(rule *resolver.Rule) (parts [][2]string) {
	flags := rule.Flags
	if meaning := w.flagMeaning(rule.Flags); meaning != "" {
		flags = strings.TrimSpace(flags + " (" + meaning + ")")
	}
	substitute := rule.Substitute
	if substitute == "." {
		substitute = ""
	}
	for _, part := range [...][2]string{
		{w.Text("explain.rule_order"), strconv.Itoa(int(rule.Order)) + ", " + strconv.Itoa(int(rule.Preference))},
		{w.Text("explain.rule_flags"), flags},
		{w.Text("explain.rule_services"), rule.Services},
		{w.Text("explain.rule_expression"), rule.Regexp},
		{w.Text("explain.rule_replacement"), substitute},
		{"TTL", w.lasting(rule.TTL)},
		{w.Text("explain.rule_matched"), rule.Matched},
		{w.Text("explain.rule_result"), rule.Result},
		{w.Text("explain.rule_why_not"), w.whyNot(rule)},
	} {
		if part[1] != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// whyNot returns the reason why a rule was not used.
func (w Writer) whyNot(rule *resolver.Rule) string {
	if id := "why." + rule.ReasonCode; w.Has(id) {
		return w.Text(id)
	}
	return rule.Reason
}

// flagMeaning returns the meaning of the flags of a rule: RFC 3404 section 4.3. It returns "" for unknown flags.
func (w Writer) flagMeaning(flags string) string {
	if id := "explain.flag_" + cmp.Or(strings.ToLower(flags), "none"); w.Has(id) {
		return w.Text(id)
	}
	return ""
}

// fully returns a step as a box with all its details that fit.
func (w Writer) fully(s *resolver.Step) traceBox {
	b := w.newTraceBox(s)
	if s.Took > 0 {
		b.side = duration(s.Took)
	}
	b.lines = nil
	rule := s.Rule
	if rule == nil {
		b.add(w.stepOf(s), 3)
		return b
	}
	b.side = w.useOf(rule)
	if rule.Use == resolver.RuleUsed {
		b.class = traceUsed
	}
	b.head = rule.Domain
	const room = 26 // characters besides the text on the right
	b.head = oneLine(b.head, room)
	b.add("NAPTR "+strconv.Itoa(int(rule.Order))+" "+strconv.Itoa(int(rule.Preference))+" "+strconv.Quote(rule.Flags)+
		" "+strconv.Quote(rule.Services)+
		", TTL "+w.lasting(rule.TTL), 1)
	if rule.Regexp != "" {
		b.add(rule.Regexp, 2)
	}
	if rule.Result != "" {
		b.add("→ "+Isolated(rule.Result), 2)
	}
	if why := w.whyNot(rule); why != "" {
		b.add("✗ "+why, 2)
	}
	return b
}

// lasting formats a duration in hours, minutes and seconds: "1 h", "5 min 30 s".
func (w Writer) lasting(d time.Duration) string {
	const perUnit = 60
	var parts []string
	whole := int64(d.Round(time.Second) / time.Second)
	for _, part := range [...]struct {
		unit string
		n    int64
	}{
		{"lifetime.hours", whole / perUnit / perUnit},
		{"lifetime.minutes", whole / perUnit % perUnit},
		{"lifetime.seconds", whole % perUnit},
	} {
		if part.n > 0 || part.unit == "lifetime.seconds" && whole <= 0 {
			parts = append(parts, w.Text(part.unit, "Number", part.n))
		}
	}
	return strings.Join(parts, " ")
}

// end returns the last box of a trace: the target, or the problem.
func (w Writer) end(e *Explanation) traceBox {
	if e.Problem != nil {
		b := traceBox{head: w.heading(e.Problem), class: traceFailed}
		b.add(w.Text("error."+e.Problem.Code, valuesOf(e.Problem.Values, w.asText)...), 3)
		if e.Problem.RuleCode != "" {
			b.add(w.Text("rule."+e.Problem.RuleCode, "Value", Isolated(e.Problem.RuleValue)), 3)
		}
		return b
	}
	const most = 5
	b := traceBox{head: w.Text("name.locations"), class: traceEnd}
	for i := range e.Targets[:min(len(e.Targets), most)] {
		b.add(e.Targets[i].URI, 2)
	}
	if len(e.Targets) > most {
		b.add("…", 1)
	}
	return b
}

// ExplainQuery returns the query of the page of an explanation, for an identifier and a service; "" is the
// default service.
func ExplainQuery(identifier, service string) string {
	query := "?uri=" + url.QueryEscape(identifier)
	if service != "" {
		query += "&service=" + url.QueryEscape(service)
	}
	return query
}
