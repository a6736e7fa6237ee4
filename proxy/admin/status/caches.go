package status

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/proxy/admin/page"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
)

// Caches are the operations on both caches that the page needs.
type Caches interface {
	// Find returns the cached entries and the stored responses of a name or URL.
	Find(uri string) ([]api.Entry, []api.Response, error)
	// ParseAnswersPurge and ParseResponsesPurge return a function that purges the selection of the parameters, which
	// are those of the API, and returns the number of purged entries. They return an error for an invalid
	// selection.
	ParseAnswersPurge(given map[string]string) (func(context.Context) (int, error), error)
	ParseResponsesPurge(given map[string]string) (func(context.Context) (int, error), error)
}

// Values of the field "cache".
const (
	cacheAnswers   = "answers"
	cacheResponses = "responses"
)

// Modes of a purge.
const (
	modeSoft    = "soft"
	modeHard    = "hard"
	modeRefresh = "refresh"
)

// cachesView is the data of the page of the caches.
type cachesView struct {
	Path    string
	Field   pages.Content
	Outcome string
	Error   pages.Content
	URI     string // the looked-up name or URL, "" for none
	Found   []cachedItem
	Left    int // number of found items that are not shown
	Kinds   []purgeKind
	Form    purgeForm // a rejected form; the zero value for none
}

// cachedItem is a cached entry or response.
type cachedItem struct {
	What  string
	Where pages.Content
	Until string
}

// purgeKind is one of the purge forms.
type purgeKind struct {
	Cache, Heading, Description string
	By, Modes                   []choice
}

type choice struct{ Value, Description string }

// purgeKinds returns the forms in the language of a writer.
func purgeKinds(in pages.Writer) []purgeKind {
	return []purgeKind{
		{
			cacheAnswers, in.Text("caches.purge_answers"), in.Text("caches.about_answers"),
			[]choice{
				{"uri", in.Text("caches.by_name", "Example", "urn:isbn:9780395363416")},
				{"prefix", in.Text("caches.by_names", "Example", "urn:nbn:de:101:")},
				{"namespace", in.Text("caches.by_namespace", "Example", "isbn")},
				{"all", in.Text("caches.all_names")},
			},
			[]choice{{modeSoft, in.Text("caches.soft_answers")}, {modeHard, in.Text("caches.hard")}},
		},
		{
			cacheResponses, in.Text("caches.purge_responses"), in.Text("caches.about_responses"),
			[]choice{
				{"uri", in.Text("caches.by_url", "Example", "http://www.example.org/a")},
				{"prefix", in.Text("caches.by_urls", "Example", "http://www.example.org/")},
				{"host", in.Text("caches.by_host", "Example", "www.example.org")},
				{"tag", in.Text("caches.by_tag", "Fields", "Surrogate-Key, Cache-Tag, Cache-Groups")},
				{"all", in.Text("caches.all_responses")},
			},
			[]choice{
				{modeSoft, in.Text("caches.soft_responses")},
				{modeHard, in.Text("caches.hard")},
				{modeRefresh, in.Text("caches.refresh")},
			},
		},
	}
}

// refusal is the message identifier of the reason why a form purges nothing.
type refusal string

// Error implements error, for logs.
func (r refusal) Error() string { return "form rejected: " + string(r) }

// Unwrap returns the error that determines the status.
func (r refusal) Unwrap() error { return problem.ErrSelection }

// errorContent returns an error in the language of a page.
func errorContent(in pages.Writer, err error) pages.Content {
	var refused refusal
	if errors.As(err, &refused) {
		return in.T(string(refused))
	}
	return in.Reason(problem.New(err))
}

// purgeForm is a submitted form.
type purgeForm struct{ Cache, By, Text, Mode string }

func newPurgeForm(from url.Values) purgeForm {
	return purgeForm{from.Get("cache"), from.Get("by"), strings.TrimSpace(from.Get("text")), from.Get("mode")}
}

// query returns the query with which the page shows the form again.
func (f purgeForm) query() url.Values {
	return url.Values{"cache": {f.Cache}, "by": {f.By}, "text": {f.Text}, "mode": {f.Mode}}
}

// purge returns the function that carries out the form. It fails if the form is none of kinds, or purges
// everything and sure is false.
func (f purgeForm) purge(caches Caches, kinds []purgeKind, sure bool) (func(context.Context) (int, error), error) {
	has := func(all []choice, value string) bool {
		return slices.ContainsFunc(all, func(c choice) bool { return c.Value == value })
	}
	known := func(k purgeKind) bool { return k.Cache == f.Cache && has(k.By, f.By) && has(k.Modes, f.Mode) }
	text := f.Text
	switch {
	case !slices.ContainsFunc(kinds, known):
		return nil, refusal("caches.no_purge")
	case f.By == "all" && !sure:
		return nil, refusal("caches.not_sure")
	case f.By == "all":
		text = "true"
	case text == "":
		return nil, refusal("caches.no_text")
	case f.Mode == modeRefresh && f.By != "uri":
		return nil, refusal("caches.not_one")
	}
	if f.Cache == cacheResponses {
		return caches.ParseResponsesPurge(map[string]string{f.By: text, "mode": f.Mode})
	}
	return caches.ParseAnswersPurge(map[string]string{f.By: text, "mode": f.Mode})
}

// serveCaches shows cached entries, and purges the selection of a form. The reply to a form is a redirect to
// its outcome, so that a reload purges nothing.
func (m handler) serveCaches(r *page.Request) (message.Reply, error) {
	if r.Method == http.MethodPost {
		return m.purge(r)
	}
	panel, given := r.Panel, r.URL.Query()
	in := panel.Writer
	v := cachesView{
		Path: pathCaches, Field: r.Field.HTML(), Kinds: purgeKinds(in),
		URI: strings.TrimSpace(given.Get("uri")),
	}
	switch {
	case given.Has("purged"):
		v.Outcome = outcome(in, given)
	case given.Has("by"):
		v.Form = newPurgeForm(given)
		if _, err := v.Form.purge(m.Caches, v.Kinds, false); err != nil {
			v.Error = errorContent(in, err)
		}
	case v.URI != "":
		v.find(in, m.Caches)
	}
	panel.Title, panel.Content = in.Text("caches.title"), m.contents.Make(in.Language(), "caches.html", v)
	return m.Show(&panel), nil
}

// purge purges the selection of a form.
func (m handler) purge(r *page.Request) (message.Reply, error) {
	f := newPurgeForm(r.Form)
	log := m.Log.With("client", r.RemoteAddr, "by", r.Actor.Name, "cache", f.Cache, "selection", f.By+"="+f.Text,
		"mode", f.Mode)
	purge, err := f.purge(m.Caches, purgeKinds(r.Panel.Writer), r.Form.Get("sure") == "yes")
	if err != nil { // the page that follows parses the selection again, and shows the error
		log.WarnContext(r.Context(), "cache purge failed", "error", err)
		return seeOther(f.query()), nil
	}
	n, err := purge(r.Context())
	if err != nil {
		log.WarnContext(r.Context(), "cache purge failed", "error", err)
		return message.Reply{}, err
	}
	log.InfoContext(r.Context(), "cache purged", "purged", n)
	return seeOther(url.Values{"purged": {strconv.Itoa(n)}, "cache": {f.Cache}, "mode": {f.Mode}}), nil
}

// seeOther redirects to the page of the caches with a query.
func seeOther(q url.Values) message.Reply {
	return message.Reply{
		Status: http.StatusSeeOther, Location: pathCaches + "?" + q.Encode(), CacheControl: message.NoStore,
	}
}

// outcome returns the message about a purge from the query of the redirect: "" for a query of no purge.
func outcome(in pages.Writer, given url.Values) string {
	n, err := strconv.ParseInt(given.Get("purged"), 10, 64)
	id := map[[2]string]string{
		{cacheAnswers, modeSoft}: "caches.done_answers_soft", {cacheAnswers, modeHard}: "caches.done_answers_hard",
		{cacheResponses, modeSoft}:    "caches.done_responses_soft",
		{cacheResponses, modeHard}:    "caches.done_responses_hard",
		{cacheResponses, modeRefresh}: "caches.done_responses_refresh",
	}[[2]string{given.Get("cache"), given.Get("mode")}]
	if err != nil || n < 0 || id == "" {
		return ""
	}
	return in.Text(id, "Count", n)
}

// find adds the cached entries and the stored responses of a name or URL.
func (v *cachesView) find(in pages.Writer, caches Caches) {
	answers, responses, err := caches.Find(v.URI)
	if err != nil {
		v.Error = errorContent(in, err)
	}
	const most = 12 // items
	v.Left = max(len(answers)+len(responses)-most, 0)
	answers = answers[:min(len(answers), most)]
	for _, e := range answers {
		v.Found = append(v.Found, cachedItem{short(e.Key), targetOf(in, e), until(in, e.TTL)})
	}
	for _, r := range responses[:min(len(responses), most-len(answers))] {
		what := in.Text("caches.response_unsized", "Status", strconv.Itoa(r.Status))
		if r.Size >= 0 {
			what = in.Text("caches.response", "Status", strconv.Itoa(r.Status), "Size", size(in, r.Size))
		}
		v.Found = append(v.Found, cachedItem{what, pages.Bdi(short(strings.Join(r.Where, ", "))), until(in, r.TTL)})
	}
}

// short shortens a text of external origin for the list.
func short(text string) string {
	const mostText = 150 // bytes
	return plaintext.Shorten(text, mostText)
}

// targetOf returns the first target of a cached entry, or the reason why it has none.
func targetOf(in pages.Writer, e api.Entry) pages.Content {
	if len(e.Locations) == 0 {
		return in.T("caches.nowhere", "Reason", in.InEnglish(short(e.Reason)))
	}
	first := pages.Bdi(short(e.Locations[0].URI))
	if more := len(e.Locations) - 1; more > 0 {
		return in.T("caches.and_more", "Target", first, "Count", more)
	}
	return first
}

// until returns the remaining freshness lifetime, in seconds.
func until(in pages.Writer, ttl int64) string {
	if ttl < 0 {
		return in.Text("caches.stale")
	}
	return in.Number(ttl) + " s"
}
