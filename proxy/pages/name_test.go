package pages_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver"
)

// named returns names with all fields set.
func named() map[string]pages.Name {
	const name = "urn:nbn:de:101:1-201102033592"
	located := pages.Name{
		Text: name, Title: "Kalevala: a poem", State: "located", Since: "2031-05-01T10:00:00Z",
		Contact: "mailto:anna@library.example", IsSandbox: true,
		Others: []string{"urn:isbn:9780395363416", "https://doi.org/10.1000/182"},
		Targets: []pages.Target{
			{URI: "https://www.example.org/book.html", Title: "The book", Type: "text/html", Language: "fi"},
			{URI: "https://mirror.example.org/book.pdf", Type: "application/pdf", Failing: true},
		},
		Links: []pages.Target{{
			URI: "https://www.example.org/book.rdf", Rel: "describedby",
			Type: "application/rdf+xml",
		}},
		Versions: []pages.Version{
			{"2031-05-02 10:00:00", "/memento/20310502100000/" + name},
			{"2031-05-01 10:00:00", "/memento/20310501100000/" + name},
		},
		History: "/timemap/" + name, Explain: "/api/v1/explain?uri=" + name,
		Citation: "Lönnrot, Elias (1849): Kalevala. https://urn.example.org/" + name,
		Formats:  []pages.Format{{"jsonld", "/uri-res/N2C.jsonld?" + name}, {"bibtex", "/uri-res/N2C.bibtex?" + name}},
		QR:       "/uri-res/N2C.qr?" + name,
		Steps: []resolver.Step{
			{Stage: "canonical", Detail: name},
			{Stage: "ddds", Detail: "nbn.urn.arpa. NAPTR: 2 records"},
			{
				Stage: "dns",
				Detail: "nbn.urn.arpa. NAPTR at 192.0.2.1: 2 records, ttl 1h, in 12ms, which is more than a box is " +
					"wide", Took: time.Millisecond,
			},
			{Stage: "ddds", Detail: "1 location"},
		},
		Properties: [][2]string{
			{"identifier", name},
			{"status", "located"},
			{"url", "https://www.example.org/book.html"},
		}, Language: pages.LanguagesOf(name),
	}
	return map[string]pages.Name{
		"located": located,
		"gone": {
			Text: name, State: "gone", Since: "2031-05-01T10:00:00Z", Reason: "merged", Contact: "Anna",
			Successors: []string{"urn:nbn:de:1", "https://a.example/"}, SuccessorTitles: []string{"The <new> one"},
			Properties: [][2]string{{"identifier", name}, {"status", "gone"}},
		},
		"unknown": {Text: name, State: "unknown", Properties: [][2]string{{"identifier", name}}},
	}
}

// The texts of the page about a name.
func TestName(t *testing.T) {
	all := named()
	d := pages.New(library(t))
	for _, tt := range []struct {
		name     string
		language pages.Language
		want     []string
		not      []string
	}{
		{
			"located", pages.English, []string{
				"<title>Kalevala: a poem – Library", "<h1><bdi>Kalevala: a poem</bdi></h1>",
				`<p class="id"><code id="name" dir="auto">urn:nbn:de:101:1-201102033592</code> <button type="button" class="copy"`, `<dt>Namespace</dt><dd><a href="/resolver/namespaces/nbn">National Bibliography Number (NBN)</a></dd>`,
				"It is in use.",
				`Since <time datetime="2031-05-01">2031-05-01</time>.`,
				`<li><a href="https://www.example.org/book.html"><b dir="auto">The book</b><small>www.example.org · Web page · Finnish</small></a></li>`, `<b dir="auto">Open at mirror.example.org</b><small>PDF</small></a> <b class="unhealthy">its server does not respond now</b>`, `<small>Description · application/rdf+xml</small>`,
				`<a href="/resolver/urn:isbn:9780395363416"><code dir="auto">urn:isbn:9780395363416</code></a>`,
				`<img class="qr" src="/resolver/uri-res/N2C.qr?urn:nbn:de:101:1-201102033592" alt="QR code of this name" width="148" height="148" loading="lazy">`,
				`<a href="/resolver/uri-res/N2C.bibtex?urn:nbn:de:101:1-201102033592">bibtex</a>`,
				`<a href="/resolver/memento/20310502100000/urn:nbn:de:101:1-201102033592"><time>2031-05-02 10:00:00</time></a>`,
				`<a href="/resolver/timemap/urn:nbn:de:101:1-201102033592">All versions</a>`,
				`<svg class="trace" role="img" aria-describedby="trace" aria-label="How it was resolved" viewBox="0 0 360 194" width="360" height="194">`,
				`<li><b>DNS query</b> <bdi>nbn.urn.arpa. NAPTR at 192.0.2.1: 2 records, ttl 1h, in 12ms, which is more than a box is wide</bdi> <small>1 ms</small></li>`, `<path d="M10 38V50m-4-4 4 4 4-4"/>`, `<path d="M10 90V142M10 118H24"/>`,
				`<th scope="row">status</th><td><code dir="auto">located</code></td>`,
				`<a href="/resolver/?uri=urn%3Anbn%3Ade%3A101%3A1-201102033592&amp;format=html&amp;lang=de">Deutsch</a>`,
			}, []string{"Withdrawn on", "Replaced by"},
		},
		{
			"gone", pages.English, []string{
				`Its owner has withdrawn it. Withdrawn on <time datetime="2031-05-01">2031-05-01</time>: <bdi>merged.</bdi></p>`, "Replaced by:",
				`<li><a href="/resolver/urn:nbn:de:1"><bdi>The &lt;new&gt; one</bdi></a> <code dir="auto">urn:nbn:de:1</code></li>`, "<dt>Contact</dt><dd><bdi>Anna</bdi></dd>",
				`<h1><code id="name" dir="auto">`,
			}, []string{"<svg class", "<img class=\"qr\"", "Locations", "Earlier versions"},
		},
		{
			"unknown", pages.German,
			[]string{"Niemand, den dieser Server fragen kann, kennt ihn.", `<th scope="row" lang="en">identifier</th>`},
			[]string{"Seit ", "Zurückgezogen"},
		},
		{
			"located", pages.German,
			[]string{
				"www.example.org · Webseite · Finnisch", "National Bibliography Number (NBN)",
				"Über diesen Namen",
			},
			nil,
		},
		{
			"located", pages.Chinese,
			[]string{"网页 · 芬兰语", "正在使用。", "自 <time datetime=\"2031-05-01\">2031-05-01</time> 起。"},
			[]string{"It is in use"},
		},
	} {
		n := all[tt.name]
		page := string(d.In(tt.language).Name(&n).Body)
		for _, want := range tt.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s in %s has no %s:\n%s", tt.name, tt.language.Tag(), want, page)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(page, not) {
				t.Errorf("%s in %s has %s", tt.name, tt.language.Tag(), not)
			}
		}
	}
}

// Images of this server only, and on this page only.
func TestNamePolicy(t *testing.T) {
	n := named()["located"]
	w := pages.New(pages.Site{}).In(pages.English)
	if policy := w.Name(&n).Policy; strings.Count(policy, "img-src 'self';") != 1 ||
		strings.Count(policy, "script") != 1 || !strings.Contains(policy, "script-src 'self';") {
		t.Error(policy)
	}
	if policy := w.Home(false).Policy; strings.Contains(policy, "img-src") {
		t.Error(policy)
	}
	if policy := pages.New(library(t)).In(pages.English).Name(&n).Policy; strings.Count(policy,
		"img-src 'self';") != 1 {
		t.Error(policy)
	}
}

// hostileName returns a name whose texts are all one text, with lists of a given length.
func hostileName(text string, times int) pages.Name {
	n := pages.Name{
		Text: text, Title: text, State: "gone", Since: "2031-05-01T10:00:00Z", Reason: text, Contact: text,
		IsSandbox: true, Successors: slices.Repeat([]string{text}, times), Others: slices.Repeat([]string{text}, times),
		Citation: text,
		Targets: slices.Repeat([]pages.Target{{
			URI: text, Title: text, Type: text, Language: text, Rel: text,
			Failing: true,
		}}, times),
		Steps:      slices.Repeat([]resolver.Step{{Stage: text, Detail: text}}, times),
		Properties: slices.Repeat([][2]string{{text, text}}, times),
		Versions:   slices.Repeat([]pages.Version{{"2031-05-01 10:00:00", "/" + text}}, times),
	}
	n.Links = n.Targets
	return n
}

// Text of a registry or a server never becomes markup, or a link to a script.
func TestNameEscapes(t *testing.T) {
	for _, text := range []string{
		hostile, `"><script>alert(1)</script>`, "javascript:alert(1)",
		"</title></svg><img src=x onerror=alert(1)>", "\x00'\xff",
	} {
		n := hostileName(text, 3)
		for _, l := range pages.Languages() {
			page := plain().In(l).Name(&n).Body
			elements := read(t, page)
			if strings.Count(string(page), "<script") != 1 ||
				strings.Contains(string(page), "src=x") && !strings.Contains(string(page), "&lt;img src=x") {
				t.Errorf("%q: %s", text, page)
			}
			if got := texts(elements, "title"); len(got) != 1 {
				t.Errorf("%q: titles %q", text, got)
			}
		}
	}
}

// The page is limited to 30 KB, whatever the data of a name.
func TestLongestName(t *testing.T) {
	site := library(t)
	for _, text := range []string{
		strings.Repeat("<", 100_000), strings.Repeat("&", 300),
		"urn:a1:" + strings.Repeat("'", 900), "http://a.example/" + strings.Repeat("%", 3000),
	} {
		n := hostileName(text, 2000)
		n.Formats = slices.Repeat([]pages.Format{{"jsonld", "/uri-res/N2C.qr?urn:a1:" + strings.Repeat("'", 490)}}, 12)
		n.QR, n.Explain, n.History = n.Formats[0].Path, n.Formats[0].Path, n.Formats[0].Path
		page := pages.New(site).In(pages.French).Name(&n)
		read(t, page.Body)
		const most = 30_000
		if len(page.Body) > most {
			t.Errorf("%.20q: %d bytes", text, len(page.Body))
		}
		if got := strings.Count(string(page.Body), "<rect"); got > 30 {
			t.Errorf("%.20q: %d steps are drawn", text, got)
		}
	}
}

func BenchmarkName(b *testing.B) {
	d := pages.New(library(b))
	n := named()["located"]
	n.Steps = slices.Repeat(n.Steps, 4)
	for b.Loop() {
		d.For("de-AT,de;q=0.9").Name(&n)
	}
}
