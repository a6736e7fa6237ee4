package pages_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// explained returns resolution traces: one by DDDS, one without a target.
func explained() map[string]pages.Explanation {
	const name = "urn:nbn:de:101:1-201102033592"
	rule := func(domain string, order, preference uint16, use resolver.RuleUse) *resolver.Rule {
		return &resolver.Rule{Domain: domain, TTL: time.Hour, Order: order, Preference: preference, Use: use}
	}
	delegated := rule("nbn.urn.arpa.", 10, 10, resolver.RuleUsed)
	delegated.Substitute, delegated.Result = "de.nbn.example.", "de.nbn.example."
	other := rule("nbn.urn.arpa.", 5, 10, resolver.RuleSkipped)
	other.Regexp, other.Substitute, other.ReasonCode = "!^urn:nbn:fi:.*!fi.nbn.example!", ".", "no_match"
	leads := rule("de.nbn.example.", 100, 10, resolver.RuleUsed)
	leads.Flags, leads.Services, leads.Regexp, leads.Matched, leads.Result = "u", "N2L",
		`!^urn:nbn:(de:.*)$!https://resolver.example.org/\1!`, name,
		"https://resolver.example.org/de:101:1-201102033592"
	also := rule("de.nbn.example.", 100, 20, resolver.RulePossible)
	also.Flags, also.Services, also.Substitute, also.Result = "s", "thttp+N2L", "_thttp._tcp.example.",
		"_thttp._tcp.example."
	unknown := rule("de.nbn.example.", 100, 30, resolver.RuleSkipped)
	unknown.Flags, unknown.Substitute, unknown.Reason = "x", "x.example.", `flags "x" are unknown`
	steps := []resolver.Step{
		{
			Stage: "normalize", Code: "normalized",
			Values: []any{"Before", "URN:NBN:de:101:1-201102033592", "After", name},
		},
		{Stage: "canonical", Code: "canonical", Values: []any{"Name", name}},
		{Stage: "cache", Code: "not_stored"},
		{Stage: "registry", Code: "name_not_registered"},
		{
			Stage: "dns", Code: "dns_answered", Values: []any{"Domain", "nbn.urn.arpa.", "Type", "NAPTR"},
			Took: 12345 * time.Microsecond,
		},
		{Stage: "ddds", Detail: "skipped", Rule: other},
		{Stage: "ddds", Detail: "used", Rule: delegated},
		{Stage: "dns", Detail: "de.nbn.example. NAPTR from the cache, 4m0s old, ttl 56m0s, 3 records, authenticated"},
		{Stage: "ddds", Detail: "skipped", Rule: unknown},
		{Stage: "ddds", Detail: "used", Rule: leads},
		{Stage: "ddds", Detail: "could use", Rule: also},
		{Stage: "ddds", Detail: "the ttl is 56m0s, of de.nbn.example. NAPTR"},
		{Stage: "ddds", Detail: "2 locations"},
	}
	return map[string]pages.Explanation{
		"found": {
			Name: name, Steps: steps,
			Targets: []pages.Target{
				{URI: leads.Result, Type: "text/html"},
				{URI: "https://mirror.example.org/", Failing: true},
			}, Path: "/api/v1/explain",
			Query: pages.ExplainQuery(name, ""), About: "/uri-res/N2C.html?" + name,
		},
		"failed": {
			Name: "urn:a1:b", Steps: steps[1:4], Path: "/api/v1/explain", Query: pages.ExplainQuery("urn:a1:b", "I2Ls"),
			Problem: &api.Problem{Status: 404, Title: "Not Found", Input: "urn:a1:b", Code: "known_nowhere"},
		},
	}
}

// The texts of an explanation about rules.
func TestExplain(t *testing.T) {
	all := explained()
	d := pages.New(library(t))
	for _, tt := range []struct {
		name string
		w    pages.Writer
		want []string
		not  []string
	}{
		{"found", d.For("en"), []string{
			"<h1>How it was resolved</h1>",
			`<svg class="trace" role="img" aria-describedby="trace" aria-label="How it was resolved"`,
			`<li class="unused"><b>Rule of <bdi>nbn.urn.arpa.</bdi></b> <small>not used</small><dl><dt>Order, preference</dt><dd dir="auto">5, 10</dd><dt>Flags</dt><dd dir="auto">(the result is the key of the next rule)</dd>`,
			`<dt>Reason</dt><dd dir="auto">Its expression does not match the name.</dd>`,
			`<dd dir="auto">u (the result is a URI)</dd>`,
			`<dt>Match</dt><dd dir="auto">urn:nbn:de:101:1-201102033592</dd>`,
			`<dt>Result</dt><dd dir="auto">https://resolver.example.org/de:101:1-201102033592</dd>`,
			`<dt>TTL</dt><dd dir="auto">1 h</dd>`,
			`<li><b>DNS query</b> <bdi>nbn.urn.arpa.</bdi> has records of the type <bdi>NAPTR</bdi>. <small>12.3 ms</small></li>`,
			`<g class="unused"><rect x="24"`, `<g class="used"><rect x="0"`,
			`>NAPTR 100 10 &#34;u&#34; &#34;N2L&#34;, TTL 1 h</text>`,
			`<a href="/resolver/api/v1/explain?uri=urn%3Anbn%3Ade%3A101%3A1-201102033592&amp;format=json">`,
			`<b class="unhealthy">`,
			`<a href="/resolver/api/v1/explain?uri=urn%3Anbn%3Ade%3A101%3A1-201102033592&amp;lang=de">Deutsch</a>`,
			`<a href="/resolver/uri-res/N2C.html?urn:nbn:`,
		}, []string{"more steps", "lang=\"en\"><b>"}},
		{"failed", d.For(pages.Chosen("de")), []string{
			`<p class="notice">Niemand, den dieser Server fragen kann, kennt ihn.</p>`, `<g class="failed">`,
			`<li><b>Name</b> Nachgeschlagen wird`, "service=I2Ls",
		}, []string{"Where it leads", "Wohin er führt"}},
	} {
		e := all[tt.name]
		page := string(tt.w.Explain(&e).Body)
		for _, want := range tt.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s has no %s:\n%s", tt.name, want, page)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(page, not) {
				t.Errorf("%s has %s", tt.name, not)
			}
		}
	}
}

// Text of servers never becomes markup, and the page is limited to 30 KB, however long the trace is.
func TestExplainIsBounded(t *testing.T) {
	d := pages.New(library(t))
	for _, text := range []string{
		hostile, `"><script>alert(1)</script>`, "</svg><img src=x onerror=alert(1)>",
		strings.Repeat("<", 10_000), strings.Repeat("长", 500), "\x00\xff",
	} {
		rule := &resolver.Rule{
			Domain: text, Flags: text, Services: text, Regexp: text, Substitute: text, Matched: text,
			Result: text, Reason: text,
		}
		e := pages.Explanation{
			Name: text, Path: "/api/v1/explain", Query: pages.ExplainQuery(text, ""), About: "/" + text,
			Steps: slices.Repeat([]resolver.Step{
				{Stage: text, Detail: text},
				{Stage: "ddds", Detail: text, Rule: rule},
			}, 500),
			Targets: slices.Repeat([]pages.Target{{URI: text, Title: text}}, 500),
		}
		for _, steps := range []int{1000, 1} {
			e.Steps = e.Steps[:steps]
			for _, problem := range []*api.Problem{
				nil,
				{Status: 400, Title: text, Code: "rules_loop", Values: []string{"Domain", text}, Input: text},
			} {
				e.Problem = problem
				page := d.In(pages.French).Explain(&e).Body
				read(t, page)
				const most = 30_000
				if len(page) > most || strings.Contains(string(page), "<script") ||
					strings.Contains(string(page), "<img src=x") {
					t.Errorf("%.20q: %d bytes", text, len(page))
				}
			}
		}
	}
}

func BenchmarkExplain(b *testing.B) {
	d := pages.New(library(b))
	e := explained()["found"]
	for b.Loop() {
		d.For("de-AT,de;q=0.9").Explain(&e)
	}
}

// Text of external origin does not affect the direction of the text around it (UAX #9), and text of a server
// is marked as of unknown language.
func TestStepsAreIsolated(t *testing.T) {
	const reversed = "a\u202eb"
	w := plain().In(pages.German)
	rule := &resolver.Rule{Domain: reversed, Result: reversed}
	explained := pages.Explanation{
		Name: reversed, Path: "/api/v1/explain", Query: "?uri=a",
		Steps: []resolver.Step{
			{Stage: "dns", Code: "dns_answered", Values: []any{"Domain", reversed, "Type", "NAPTR"}},
			{Stage: "ddds", Rule: rule},
			{Stage: "slp", Detail: reversed},
			{
				Stage: "warning", Code: "breaks_rule",
				Values: []any{"Rule", uri.Rule{Code: "pattern"}.With(reversed), "Section", "RFC 1"},
			},
		},
		Problem: &api.Problem{Status: 502, Code: "server_refused", Values: []string{"Reply", reversed}},
	}
	for name, page := range map[string]pages.Page{
		"explain": w.Explain(&explained),
		"name": w.Name(&pages.Name{
			Text: reversed, Title: reversed, Reason: reversed, State: "gone", Contact: reversed, Steps: explained.Steps,
			Successors: []string{reversed}, SuccessorTitles: []string{reversed},
			Targets:  []pages.Target{{URI: reversed, Title: reversed}},
			Citation: reversed,
		}),
		"problem": w.Problem(api.Problem{
			Status: 502, Code: "server_refused", Input: reversed,
			Values: []string{"Reply", reversed}, Refused: true,
		}),
		"rule": w.Problem(api.Problem{
			Status: 400, Code: "not_valid", Input: reversed, Offset: new(int), Rule: "pattern", RuleCode: "pattern",
			RuleValue: reversed,
		}),
	} {
		for _, found := range unisolated(string(page.Body)) {
			t.Errorf("%s: %s", name, found)
		}
		if hasReply := strings.Contains(string(page.Body),
			`<bdi lang="">a`+"\u202e"); hasReply != (name == "explain" || name == "problem") {
			t.Errorf("%s: %v", name, hasReply)
		}
	}
}

// unisolated returns the texts of a page with U+202E outside of elements and characters that isolate it.
func unisolated(page string) (found []string) {
	var open []html.Token
	tokens := html.NewTokenizer(strings.NewReader(page))
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		token := tokens.Token()
		switch kind {
		case html.StartTagToken:
			open = append(open, token)
		case html.EndTagToken:
			for len(open) > 0 && open[len(open)-1].Data != token.Data {
				open = open[:len(open)-1] // of a void element
			}
			open = open[:max(len(open)-1, 0)]
		case html.TextToken:
			isolates := slices.ContainsFunc(open, func(e html.Token) bool {
				auto := slices.ContainsFunc(e.Attr,
					func(a html.Attribute) bool { return a.Key == "dir" && a.Val == "auto" })
				// Each text of a picture is a paragraph of its own.
				return auto || e.Data == "bdi" || e.Data == "text"
			})
			if before, _, has := strings.Cut(token.Data, "\u202e"); has && !isolates &&
				!strings.Contains(before, "\u2068") {
				found = append(found, open[len(open)-1].Data+": "+token.Data)
			}
		}
	}
	return found
}

// Durations use the units of the language.
func TestDurations(t *testing.T) {
	d := pages.New(pages.Site{})
	for _, tt := range []struct {
		language, want string
		age            time.Duration
	}{
		{"en", "There was a cached answer, 0 s old.", time.Millisecond},
		{"en", "There was a cached answer, 1 h old.", time.Hour},
		{"de", "Es gab eine gespeicherte Antwort, 9 min 23 s alt.", 9*time.Minute + 23*time.Second},
		{"zh", "有一个已存储的应答，存储了 2 小时 5 秒。", 2*time.Hour + 5*time.Second},
	} {
		step := resolver.Step{Stage: "cache", Code: "stored", Values: []any{"Age", tt.age}}
		page := d.For(pages.Chosen(tt.language)).Explain(&pages.Explanation{
			Name:  "urn:a1:b",
			Steps: []resolver.Step{step},
		})
		if !strings.Contains(string(page.Body), tt.want) {
			t.Errorf("%s: no %q", tt.language, tt.want)
		}
	}
}
