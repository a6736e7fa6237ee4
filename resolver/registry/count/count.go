// Package count counts the resolutions of the names of a registry by day, and stores nothing about clients. A
// canonical name and whether its client is a bot enter for each response; tallies of people and bots by name
// and day leave, to the store and to reports. Days more than 13 months before the current one are folded to
// months; days are dates of RFC 3339 in UTC.
package count

import (
	"context"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// OtherNames is the name under which resolutions beyond the memory limit are counted.
const OtherNames = "other"

const (
	dayForm   = "2006-01-02"
	monthForm = "2006-01"
	// monthsOfDays is the number of months before the current one that have counts by day. It is more than a
	// year, so that a day can be compared with the same day of the previous year.
	monthsOfDays = 13
)

// daysOf returns the days of two times in UTC; a zero time is unbounded.
func daysOf(from, to time.Time) registry.Days {
	d := registry.Days{From: "0000-00-00", To: "9999-99-99"}
	if !from.IsZero() {
		d.From = from.UTC().Format(dayForm)
	}
	if !to.IsZero() {
		d.To = to.UTC().Format(dayForm)
	}
	return d
}

// Get returns the counts of a canonical name or prefix between two days, both included, the oldest first; a
// zero time is unbounded. Old days are folded to complete months.
func Get(tx registry.Tx, name string, from, to time.Time) ([]registry.Count, error) {
	return tx.ResolutionCounts(name, daysOf(from, to))
}

// Top returns the limit names that people resolved most between two days, as in Get, and the sum of all names.
func Top(
	ctx context.Context, store registry.Store, from, to time.Time, limit int,
) (top []registry.NameCount, sum registry.Tally, err error) {
	err = store.Read(ctx, func(tx registry.Tx) error {
		top, sum, err = tx.MostResolved(daysOf(from, to), limit)
		return err
	})
	if err != nil {
		return nil, registry.Tally{}, fmt.Errorf("reading counts: %w", err)
	}
	return top, sum, nil
}

// add adds counts of days to the store, with the sums of all names. The first count of a name in a month
// folds its days of old months, so that a name that is resolved daily for decades has a bounded number of
// counts.
func add(tx registry.WriteTx, counts []registry.ResolutionCount, now time.Time) error {
	names := []string{registry.AllNames}
	sums := make(map[string]registry.Tally, 1)
	for _, c := range counts {
		names = append(names, c.Name)
		sums[c.Period] = sums[c.Period].Plus(c.Tally)
	}
	for period, sum := range sums {
		counts = append(counts, registry.ResolutionCount{
			Name:  registry.AllNames,
			Count: registry.Count{Period: period, Tally: sum},
		})
	}
	now = now.UTC()
	first := time.Date(now.Year(), now.Month()-monthsOfDays, 1, 0, 0, 0, 0, time.UTC)
	if err := tx.FoldResolutions(names, now.Format(monthForm), first.Format(monthForm)); err != nil {
		return err
	}
	return tx.AddResolutions(counts)
}
