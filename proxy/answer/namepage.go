package answer

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/proxy/answer/represent"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/pages/qr"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// Limits of the page about a name.
const (
	maxPageVersions = 20
	maxPageTargets  = 100
	maxPageTitles   = 20  // of successors
	maxPageOthers   = 50  // other names
	maxPageLinked   = 500 // bytes of a name, which each link to a format repeats
)

// page returns the page about an identifier with description d, which is based on an answer or a failure, and
// the steps of its resolution, which must be public.
func (a *Responder) page(
	ctx context.Context, q *Request, d *descriptionJSON, answer resolver.Answer, failure error, steps []resolver.Step,
) pages.Page {
	record := recordOf(answer, failure)
	work := workOf(q.Base, d.known, answer, record)
	name := d.ID
	n := pages.Name{
		Text: d.title, IsAddress: q.Form == route.FormHost ||
			isAddress(name), Title: work.Metadata.Title, State: d.Status, Others: d.SameAs,
		Properties: d.rows(), Steps: steps, Citation: strings.TrimSpace(string(represent.Citation(work))),
		Language: pages.LanguagesOf(name),
	}
	if r := d.Record; r != nil {
		n.Since, n.Reason, n.Contact, n.IsSandbox, n.Successors = r.Since, r.Reason, r.Contact, r.Sandbox, r.Successors
		n.SuccessorTitles = a.titlesOf(ctx, r.Successors)
	}
	links := answer.Links()
	if record != nil && len(answer.Locations) == 0 {
		links = record.Links
	}
	for _, l := range links[:min(len(links), maxPageTargets)] {
		t := pages.Target{
			URI: l.URI, Title: l.Title, Type: l.Type, Language: l.Language, Rel: l.Rel,
			Failing: a.config.Failing(l.URI),
		}
		if resolver.RelationResolves(l.Rel) {
			n.Targets = append(n.Targets, t)
		} else {
			n.Links = append(n.Links, t)
		}
	}
	if record != nil {
		n.Others = a.othersOf(ctx, q, d)
		n.Versions, n.History = a.versionsOf(ctx, q, name)
	}
	if len(name) <= maxPageLinked {
		a.addPaths(&n, q, name, record)
	}
	return a.writer(q).Name(&n)
}

// othersOf returns the other names of a name: those by rules, and those in the registry.
func (a *Responder) othersOf(ctx context.Context, q *Request, d *descriptionJSON) []string {
	others := slices.Clone(d.SameAs)
	found, err := a.ask(ctx, q.Query, resolver.I2Ns)
	if err != nil {
		return others // the page shows the other data
	}
	for _, name := range textsOf(found.Locations) {
		if name != d.ID && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	return others[:min(len(others), maxPageOthers)]
}

// titlesOf returns the known titles of names in the registry.
func (a *Responder) titlesOf(ctx context.Context, names []string) []string {
	if len(names) == 0 || a.config.LookupNames == nil {
		return nil
	}
	known, err := a.config.LookupNames(ctx, names[:min(len(names), maxPageTitles)])
	if err != nil {
		return nil // the page shows the other data
	}
	titles := make([]string, len(known))
	for i := range known {
		titles[i] = calledOf(&known[i])
	}
	return titles
}

// isAddress reports whether a name is an http or https URL.
func isAddress(name string) bool {
	return strings.HasPrefix(name, "https://") || strings.HasPrefix(name, "http://")
}

// addPaths sets the paths that contain the name.
func (a *Responder) addPaths(n *pages.Name, q *Request, name string, record *resolver.Record) {
	for _, f := range formats() {
		if f.isLinkedOf(record) && f.mediaType != pages.Type || f.isLinkset() {
			n.Formats = append(n.Formats,
				pages.Format{Name: f.name, Path: string(route.AppendServiceURL(nil, "", describes, f.name, name))})
		}
	}
	n.Explain = route.PathExplain + pages.ExplainQuery(name, "")
	if q.IsName && len(codeOf(q.Base, name)) <= qr.MaxText {
		n.QR = string(route.AppendServiceURL(nil, "", describes, formatQR, name))
	}
}

// versionsOf returns the newest versions of a name, and the path of the complete list; none if the history is
// not available.
func (a *Responder) versionsOf(ctx context.Context, q *Request, name string) (newest []pages.Version, all string) {
	if a.config.History == nil {
		return nil, ""
	}
	versions, err := a.config.History.Versions(ctx, q.Query)
	if err != nil {
		return nil, ""
	}
	for i := len(versions.Times) - 1; i >= 0 && len(newest) < maxPageVersions; i-- {
		at := versions.Times[i]
		newest = append(newest, pages.Version{
			Time: at.UTC().Format(time.DateTime),
			Path: route.MementoURL("", at, name),
		})
	}
	return newest, route.TimeMapURL("", 0, name)
}
