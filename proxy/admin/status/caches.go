package status

import (
	"context"
	"fmt"
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

// Caches are what the page of the caches shows, and purges.
type Caches interface {
	// Find returns what is cached for a name or a URL.
	Find(uri string) ([]api.Entry, []api.Response, error)
	// AnswersPurge and ResponsesPurge return what purges that which parameters select, as those of the API, and an error where they select
	// nothing that could be. It returns how many there were.
	AnswersPurge(given map[string]string) (func(context.Context) (int, error), error)
	ResponsesPurge(given map[string]string) (func(context.Context) (int, error), error)
}

// The caches that the page purges, as its forms name them.
const (
	cacheAnswers   = "answers"
	cacheResponses = "responses"
)

// The modes of a purge.
const (
	modeSoft    = "soft"
	modeHard    = "hard"
	modeRefresh = "refresh"
)

// cachesView is what the page of the caches shows.
type cachesView struct {
	Path        string
	Field       pages.Content
	Done, Fault string
	URI         string // what is looked for, "" for nothing
	Found       []cachedItem
	Left        int // found items that are not shown
	Kinds       []purgeKind
	Form        purgeForm // that was refused; the zero value for none
}

// cachedItem is something in a cache.
type cachedItem struct{ What, Where, Until string }

// purgeKind is one of the forms.
type purgeKind struct {
	Cache, Heading, About string
	By, Modes             []choice
}

type choice struct{ Value, About string }

// purgeKinds are the forms of the page.
func purgeKinds() []purgeKind {
	return []purgeKind{
		{
			cacheAnswers, "Purge answers for names", "Also the DNS records that they came from.",
			[]choice{
				{"uri", "one name: urn:isbn:9780395363416"}, {"prefix", "names that begin with: urn:nbn:de:101:"}, {"namespace", "a namespace: isbn"}, {"all", "all names"},
			},
			[]choice{{modeSoft, "soft: resolve again, and use the old answer while that fails"}, {modeHard, "hard: remove"}},
		},
		{
			cacheResponses, "Purge stored responses", "Those to requests for URLs.",
			[]choice{
				{"uri", "one URL: http://www.example.org/a"},
				{"prefix", "URLs that begin with: http://www.example.org/"},
				{"host", "a host: www.example.org"},
				{"tag", "a tag of Surrogate-Key, Cache-Tag or Cache-Groups"},
				{"all", "all responses"},
			},
			[]choice{{modeSoft, "soft: validate before they are used again"}, {modeHard, "hard: remove"}, {modeRefresh, "refresh: fetch one URL once more, now"}},
		},
	}
}

// purgeForm is a form of the page.
type purgeForm struct{ Cache, By, Text, Mode string }

func newPurgeForm(from url.Values) purgeForm {
	return purgeForm{from.Get("cache"), from.Get("by"), strings.TrimSpace(from.Get("text")), from.Get("mode")}
}

// query returns the query by which the page shows the form again.
func (f purgeForm) query() url.Values {
	return url.Values{"cache": {f.Cache}, "by": {f.By}, "text": {f.Text}, "mode": {f.Mode}}
}

// purge returns what is done by the form. sure is whether all may be purged.
func (f purgeForm) purge(caches Caches, sure bool) (func(context.Context) (int, error), error) {
	has := func(all []choice, value string) bool {
		return slices.ContainsFunc(all, func(c choice) bool { return c.Value == value })
	}
	known := func(k purgeKind) bool { return k.Cache == f.Cache && has(k.By, f.By) && has(k.Modes, f.Mode) }
	text := f.Text
	switch {
	case !slices.ContainsFunc(purgeKinds(), known):
		return nil, fmt.Errorf("%w: there is no such purge: use the form", problem.ErrSelection)
	case f.By == "all" && !sure:
		return nil, fmt.Errorf("%w: all is purged only where it is said that this is meant", problem.ErrSelection)
	case f.By == "all":
		text = "true"
	case text == "":
		return nil, fmt.Errorf("%w: nothing is named", problem.ErrSelection)
	}
	if f.Cache == cacheResponses {
		return caches.ResponsesPurge(map[string]string{f.By: text, "mode": f.Mode})
	}
	return caches.AnswersPurge(map[string]string{f.By: text, "soft": strconv.FormatBool(f.Mode == modeSoft)})
}

// serveCaches shows what is cached, and purges what a form selects. The reply to a form leads to what came of it: a page that is loaded again
// purges nothing.
func (m maker) serveCaches(r *page.Request) (message.Reply, error) {
	if r.Method == http.MethodPost {
		return m.purge(r)
	}
	given := r.URL.Query()
	v := cachesView{Path: pathCaches, Field: r.Field.HTML(), Kinds: purgeKinds(), URI: strings.TrimSpace(given.Get("uri"))}
	switch {
	case given.Has("purged"):
		v.Done = outcome(given)
	case given.Has("by"):
		v.Form = newPurgeForm(given)
		if _, err := v.Form.purge(m.Caches, false); err != nil {
			v.Fault = err.Error()
		}
	case v.URI != "":
		v.find(m.Caches)
	}
	panel := r.Panel
	panel.In, panel.Address = pages.Writer{}, "" // it is in English alone
	panel.Title, panel.Content = "Caches", m.contents.Make(pages.English, "caches.html", v)
	return m.Show(&panel), nil
}

// purge purges what a form selects.
func (m maker) purge(r *page.Request) (message.Reply, error) {
	f := newPurgeForm(r.Form)
	log := m.Log.With("client", r.RemoteAddr, "by", r.Actor.Name, "cache", f.Cache, "selection", f.By+"="+f.Text, "mode", f.Mode)
	purge, err := f.purge(m.Caches, r.Form.Get("sure") == "yes")
	n := 0
	if err == nil {
		n, err = purge(r.Context())
	}
	to := f.query()
	switch {
	case err == nil:
		log.InfoContext(r.Context(), "a cache was purged", "purged", n)
		to = url.Values{"purged": {strconv.Itoa(n)}, "cache": {f.Cache}, "mode": {f.Mode}}
	case problem.Status(err) >= http.StatusInternalServerError:
		log.WarnContext(r.Context(), "a cache was not purged", "error", err)
		return message.Reply{}, err
	default:
		log.WarnContext(r.Context(), "a cache was not purged", "error", err)
	}
	return message.Reply{Status: http.StatusSeeOther, Location: pathCaches + "?" + to.Encode(), CacheControl: message.NoStore}, nil
}

// outcome says what a purge has done, by the query to which its reply leads: "" for one that no purge leads to.
func outcome(given url.Values) string {
	n, err := strconv.ParseUint(given.Get("purged"), 10, 64)
	caches := map[string]string{cacheAnswers: "answers", cacheResponses: "responses"}
	verbs := map[string]string{modeSoft: "made stale", modeHard: "removed", modeRefresh: "fetched once more"}
	cache, verb := caches[given.Get("cache")], verbs[given.Get("mode")]
	if err != nil || cache == "" || verb == "" {
		return ""
	}
	return fmt.Sprintf("%s in the cache of %s were %s.", number(n), cache, verb)
}

// find adds what the caches have for a name or a URL.
func (v *cachesView) find(caches Caches) {
	answers, responses, err := caches.Find(v.URI)
	if err != nil {
		v.Fault = err.Error()
	}
	for _, e := range answers {
		v.Found = append(v.Found, cachedItem{e.Key, targetOf(e), until(e.TTL)})
	}
	for _, r := range responses {
		of := "of unknown size"
		if r.Size >= 0 {
			of = size(r.Size)
		}
		v.Found = append(v.Found, cachedItem{fmt.Sprintf("response %d, %s", r.Status, of), strings.Join(r.Where, ", "), until(r.TTL)})
	}
	const most, mostText = 12, 150 // items, and bytes of each of their texts
	v.Left = max(len(v.Found)-most, 0)
	v.Found = v.Found[:len(v.Found)-v.Left]
	for i := range v.Found {
		v.Found[i].What, v.Found[i].Where = plaintext.Shorten(v.Found[i].What, mostText), plaintext.Shorten(v.Found[i].Where, mostText)
	}
}

// targetOf returns where an answer leads.
func targetOf(e api.Entry) string {
	switch {
	case len(e.Locations) == 0:
		return "nowhere: " + e.Reason
	case len(e.Locations) == 1:
		return e.Locations[0].URI
	default:
		return e.Locations[0].URI + " and " + strconv.Itoa(len(e.Locations)-1) + " more"
	}
}

// until says how long something is fresh, in seconds.
func until(ttl int64) string {
	if ttl < 0 {
		return "stale"
	}
	return strconv.FormatInt(ttl, 10) + " s"
}
