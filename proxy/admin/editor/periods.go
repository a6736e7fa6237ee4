package editor

import (
	"time"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver/registry"
)

const (
	// daysShown is from how many days on months are shown in place of them, and monthsShown how many of these at most.
	daysShown   = 92
	monthsShown = 120
	monthForm   = "2006-01"
)

// following returns the periods from one day to another without gaps: days where they are few and all are known, or else months.
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
	hasMonths := len(counted) > 0 && len(counted[0].Period) < len(time.DateOnly) // of long ago there are no days, and these are first
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
		sums[period] = registry.Count{Period: period, Tally: registry.Tally{People: sum.People + c.People, Bots: sum.Bots + c.Bots}}
	}
	var all []registry.Count
	for ; !from.After(to); from = next(from) {
		period := from.Format(form)
		all = append(all, registry.Count{Period: period, Tally: sums[period].Tally})
	}
	return all
}
