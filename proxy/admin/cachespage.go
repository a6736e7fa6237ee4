package admin

import (
	"embed"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/admin/editor"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/uri"
)

//go:embed caches.html
var cachesFiles embed.FS

// The caches that the page purges, as its forms name them.
const (
	cacheAnswers   = "answers"
	cacheResponses = "responses"
)

// cachesView is what the page of the caches shows.
type cachesView struct {
	Path        string
	Field       pages.Content
	Done, Fault string
	Columns     []string
	Caches      []pages.Row
	URI         string // what is looked for, "" for nothing
	Found       []cachedItem
	Left        int // found items that are not shown
	Kinds       []purgeKind
	// What a form had that was refused; the zero value for none.
	Cache, By, Text, Mode string
}

// cachedItem is something in a cache.
type cachedItem struct{ What, Where, Until string }

// purgeKind is one of the forms.
type purgeKind struct {
	Cache, Heading, About string
	By, Modes             []purgeChoice
}

type purgeChoice struct{ Value, About string }

// purgeKinds are the forms of the page.
func purgeKinds() []purgeKind {
	return []purgeKind{
		{
			cacheAnswers, "Purge answers for names", "Also the DNS records that they came from.",
			[]purgeChoice{
				{"uri", "one name: urn:isbn:9780395363416"}, {"prefix", "names that begin with: urn:nbn:de:101:"}, {"namespace", "a namespace: isbn"}, {"all", "all names"},
			},
			[]purgeChoice{{modeSoft, "soft: resolve again, and answer what is there while that fails"}, {modeHard, "hard: remove"}},
		},
		{
			cacheResponses, "Purge stored responses", "Those to requests for URLs.",
			[]purgeChoice{
				{"uri", "one URL: http://www.example.org/a"},
				{"prefix", "URLs that begin with: http://www.example.org/"},
				{"host", "a host: www.example.org"},
				{"tag", "a tag of Surrogate-Key, Cache-Tag or Cache-Groups"},
				{"all", "all responses"},
			},
			[]purgeChoice{{modeSoft, "soft: validate before they are used again"}, {modeHard, "hard: remove"}, {modeRefresh, "refresh: fetch one URL once more, now"}},
		},
	}
}

// cachesPage shows what the caches hold, and purges what a form selects.
func (h *Handler) cachesPage() func(p *editor.Request) (message.Reply, error) {
	contents := pages.NewContents(cachesFiles)
	return func(p *editor.Request) (message.Reply, error) {
		v := cachesView{Path: pathCaches, Field: p.Field.HTML(), Kinds: purgeKinds(), Cache: p.Form.Get("cache"), By: p.Form.Get("by"), Mode: p.Form.Get("mode")}
		status := http.StatusOK
		if p.Method == http.MethodPost {
			done, err := h.purgeByForm(p)
			switch status = problem.Status(err); {
			case err == nil:
				v.Done, status = done, http.StatusOK
			case status >= http.StatusInternalServerError:
				return message.Reply{}, err
			default:
				v.Fault, v.Text = err.Error(), p.Form.Get("text")
			}
		}
		if v.URI = strings.TrimSpace(p.URL.Query().Get("uri")); v.URI != "" && p.Method != http.MethodPost {
			v.find(h)
		}
		for _, t := range h.config.Status.State().Tables {
			if t.ID == "caches" {
				v.Columns, v.Caches = t.Columns, t.Rows
			}
		}
		page := p.Panel
		page.Title, page.Content = "Caches", contents.Make(pages.English, "caches.html", v)
		reply := h.show(&page)
		reply.Status = status
		return reply, nil
	}
}

// purgeByForm purges what a form selects, and returns what was done in a sentence.
func (h *Handler) purgeByForm(p *editor.Request) (string, error) {
	text, by, mode := strings.TrimSpace(p.Form.Get("text")), p.Form.Get("by"), p.Form.Get("mode")
	switch {
	case !isPurge(p.Form.Get("cache"), by, mode):
		return "", fmt.Errorf("%w: there is no such purge: use the form", problem.ErrSelection)
	case by == "all" && p.Form.Get("sure") != "yes":
		return "", fmt.Errorf("%w: all is purged only where it is said that this is meant", problem.ErrSelection)
	case by == "all":
		text = "true"
	case text == "":
		return "", fmt.Errorf("%w: nothing is named", problem.ErrSelection)
	}
	n, err := h.purgeCache(p, by, text, mode)
	log := h.config.Log.With("client", p.RemoteAddr, "by", p.Actor.Name, "cache", p.Form.Get("cache"), "selection", by+"="+text, "mode", mode)
	if err != nil {
		log.WarnContext(p.Context(), "a cache was not purged", "error", err)
		return "", err
	}
	log.InfoContext(p.Context(), "a cache was purged", "purged", n)
	verb := map[string]string{modeHard: "removed", modeRefresh: "fetched once more"}[mode]
	if verb == "" {
		verb = "made stale"
	}
	return fmt.Sprintf("%d in the cache of %s were %s.", n, p.Form.Get("cache"), verb), nil
}

// isPurge reports whether a form of the page can have these values.
func isPurge(cache, by, mode string) bool {
	has := func(all []purgeChoice, value string) bool {
		return slices.ContainsFunc(all, func(c purgeChoice) bool { return c.Value == value })
	}
	return slices.ContainsFunc(purgeKinds(), func(k purgeKind) bool { return k.Cache == cache && has(k.By, by) && has(k.Modes, mode) })
}

func (h *Handler) purgeCache(p *editor.Request, by, text, mode string) (int, error) {
	given := map[string]string{by: text}
	if p.Form.Get("cache") == cacheResponses {
		given["mode"] = mode
		return h.purgeResponses(p.Context(), given)
	}
	given["soft"] = strconv.FormatBool(mode == modeSoft)
	s, soft, err := selectionOf(given)
	if err != nil {
		return 0, err
	}
	return h.config.Caches.Purge(p.Context(), s, soft)
}

// find adds what the caches have for a name or a URL.
func (v *cachesView) find(h *Handler) {
	u, err := uri.Parse(v.URI)
	if err != nil {
		v.Fault = err.Error()
		return
	}
	entries, err := h.config.Caches.Lookup(u)
	if err != nil && problem.Status(err) < http.StatusInternalServerError {
		v.Fault = err.Error()
	}
	for _, e := range entries {
		v.Found = append(v.Found, cachedItem{e.Key, targetOf(e), until(e.TTL)})
	}
	if key, err := h.keyOf(v.URI); err == nil {
		v.Fault = ""
		for _, r := range h.config.Responses.Lookup(key) {
			size := "of unknown size"
			if r.Size >= 0 {
				size = strconv.FormatInt(r.Size, 10) + " octets"
			}
			v.Found = append(v.Found, cachedItem{fmt.Sprintf("response %d, %s", r.Status, size), strings.Join(r.Where, ", "), until(r.TTL)})
		}
	}
	const most, mostText = 12, 150 // items, and octets of each of their texts
	v.Left = max(len(v.Found)-most, 0)
	v.Found = v.Found[:len(v.Found)-v.Left]
	for i := range v.Found {
		v.Found[i].What, v.Found[i].Where = pages.Shorten(v.Found[i].What, mostText), pages.Shorten(v.Found[i].Where, mostText)
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
