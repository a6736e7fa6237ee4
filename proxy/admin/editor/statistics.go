package editor

import (
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

// PathStatistics is the path of the statistics.
const PathStatistics = "/registry/statistics"

const groupsShown = 30

// countedGroup is the number of names in a namespace or below a prefix.
type countedGroup struct {
	Group  string
	Others int // the number of namespaces combined in this group, which has no Group
	registry.Totals
}

// Sum returns the number of names.
func (g countedGroup) Sum() int64 { return g.Active + g.Reserved + g.Withdrawn }

// countedPeriod is the number of resolutions in a period.
type countedPeriod struct{ registry.Count }

// Sum returns the resolutions by people and by bots.
func (c countedPeriod) Sum() int64 { return c.People + c.Bots }

// statisticsPage is the data of the page of statistics.
type statisticsPage struct {
	Query      url.Values
	Own        []string
	Groups     []countedGroup
	Total      countedGroup
	IsComplete bool
	// Resolutions of one name, or of all names.
	IsCounted bool
	Name      string
	Error     pages.Content
	Periods   []countedPeriod
	Most      int64 // the maximum of resolutions in a period
	People    int64
	Bots      int64
	Since     string
	Until     string
}

// serveStatistics shows the number of names, and the resolutions of one or all of them.
func (e *Editor) serveStatistics(p *Request) (message.Reply, error) {
	q, requested := queryOf(p)
	page := statisticsPage{Query: requested, Own: p.Actor.Prefixes}
	counted, err := e.Service.Totals(p.Context(), p.Actor, registry.Search{Prefix: q.Get("prefix")})
	if err != nil {
		return message.Reply{}, err
	}
	page.Total, page.IsComplete = countedGroup{Totals: counted.Total}, !counted.TimedOut
	page.Groups = groupsOf(counted.Groups)
	if q.Get("prefix") != "" {
		page.Groups = []countedGroup{{Group: q.Get("prefix"), Totals: counted.Total}}
	}
	page.Name = requested.Get("uri")
	if page.IsCounted = page.Name != "" || len(page.Own) == 0; page.IsCounted {
		if err := e.countPeriods(p, &page); err != nil {
			e.Failed(p.Request, p.Actor, err)
			page.Error = errorContent(p.Panel.Writer, err)
		}
	}
	return e.show(p, p.Panel.Writer.Text("statistics.title"), "statistics.html", page), nil
}

// groupsOf returns the largest groups in descending order; all others are combined in the last group.
func groupsOf(totals map[string]registry.Totals) (groups []countedGroup) {
	for _, name := range slices.Sorted(maps.Keys(totals)) {
		if t := totals[name]; t != (registry.Totals{}) {
			groups = append(groups, countedGroup{Group: name, Totals: t})
		}
	}
	slices.SortStableFunc(groups, func(a, b countedGroup) int { return int(min(max(b.Sum()-a.Sum(), -1), 1)) })
	if len(groups) > groupsShown {
		others := countedGroup{Others: len(groups) - groupsShown + 1}
		for _, g := range groups[groupsShown-1:] {
			others.Totals = others.Plus(g.Totals)
		}
		groups = append(groups[:groupsShown-1], others)
	}
	return groups
}

// countPeriods reads the resolutions of a name, or of all names, by default of the last days.
func (e *Editor) countPeriods(p *Request, page *statisticsPage) error {
	today := e.Service.Now().UTC()
	page.Since, page.Until = page.Query.Get("since"), page.Query.Get("until")
	if page.Since == "" {
		page.Since = today.AddDate(0, 0, 1-daysShown).Format(time.DateOnly)
	}
	if page.Until == "" {
		page.Until = today.Format(time.DateOnly)
	}
	days := map[string]string{"since": page.Since, "until": page.Until}
	since, until, err := service.ParseDays(func(name string) string { return days[name] })
	if err != nil {
		return err
	}
	name, counts, err := e.Service.Counts(p.Context(), p.Actor, registry.Name(page.Name), since, until)
	if err != nil {
		return err
	}
	page.Name = name
	for _, c := range counts {
		page.People, page.Bots = page.People+c.People, page.Bots+c.Bots
	}
	if page.People+page.Bots == 0 {
		return nil
	}
	for _, c := range following(counts, page.Since, page.Until) {
		one := countedPeriod{c}
		page.Periods, page.Most = append(page.Periods, one), max(page.Most, one.Sum())
	}
	return nil
}

const (
	// daysShown is the number of days from which months are shown instead, and monthsShown the maximum number
	// of months.
	daysShown   = 92
	monthsShown = 120
	monthForm   = "2006-01"
)

// following returns the periods from one day to another without gaps: days if they are few and all known,
// otherwise months.
func following(counted []registry.Count, since, until string) []registry.Count {
	from, err := plaintext.ParseDay(since)
	if err != nil {
		return counted
	}
	to, err := plaintext.ParseDay(until)
	if err != nil || to.Before(from) {
		return counted
	}
	form, next := time.DateOnly, func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }
	// Old counts have months only, and they come first.
	hasMonths := len(counted) > 0 && len(counted[0].Period) < len(time.DateOnly)
	if hasMonths || !to.Before(from.AddDate(0, 0, daysShown)) {
		form, next = monthForm, func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }
		from = time.Date(from.Year(), from.Month(), 1, 0, 0, 0, 0, time.UTC)
		if first := to.AddDate(0, 1-monthsShown, 1-to.Day()); from.Before(first) {
			from = first
		}
	}
	sums := make(map[string]registry.Count, len(counted))
	for _, c := range counted {
		period := c.Period[:min(len(c.Period), len(form))]
		sum := sums[period]
		sums[period] = registry.Count{
			Period: period,
			Tally:  registry.Tally{People: sum.People + c.People, Bots: sum.Bots + c.Bots},
		}
	}
	var all []registry.Count
	for ; !from.After(to); from = next(from) {
		period := from.Format(form)
		all = append(all, registry.Count{Period: period, Tally: sums[period].Tally})
	}
	return all
}
