// Package count counts how often the names of a registry are resolved, by day, without anything about who asked, and
// reads the counts.
package count

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Tally is how often a name was resolved. It has nothing about who asked.
type Tally struct {
	People uint64 `json:"people"`
	Bots   uint64 `json:"bots"`
}

// Count is the tally of a period: a day, "2031-05-01", or a month, "2031-05", in UTC.
type Count struct {
	Period string `json:"period"`
	Tally
}

// NameCount is the tally of a name.
type NameCount struct {
	Name string `json:"name"`
	Tally
}

// AllNames is, in place of a name, all of them together. Their counts are written with those of each name, and never moved or removed.
const AllNames = ""

// OtherNames is what resolutions are counted as that there was no room for.
const OtherNames = "other"

const (
	dayForm   = "2006-01-02"
	monthForm = "2006-01"
	// monthsOfDays is how many months before the current one have days of their own. It is more
	// than a year, so that a day can be compared with that of the year before.
	monthsOfDays = 13
	countsPage   = 1000
)

func (t Tally) plus(other Tally) Tally { return Tally{t.People + other.People, t.Bots + other.Bots} }

// encodeTally returns the document of a tally: "12 3".
func encodeTally(t Tally) []byte {
	b := strconv.AppendUint(make([]byte, 0, 16), t.People, 10)
	return strconv.AppendUint(append(b, ' '), t.Bots, 10)
}

func decodeTally(d registry.Document) (t Tally, err error) {
	people, bots, _ := strings.Cut(string(d.Value), " ")
	if t.People, err = strconv.ParseUint(people, 10, 64); err == nil {
		t.Bots, err = strconv.ParseUint(bots, 10, 64)
	}
	if err != nil {
		return Tally{}, fmt.Errorf("%w: the count %q: %w", registry.ErrDamaged, d.Key, err)
	}
	return t, nil
}

// days are those from one to another, both included.
type days struct{ from, to string }

// daysOf returns the days of two times in UTC; the zero value does not bound.
func daysOf(from, to time.Time) days {
	d := days{"0000-00-00", "9999-99-99"}
	if !from.IsZero() {
		d.from = from.UTC().Format(dayForm)
	}
	if !to.IsZero() {
		d.to = to.UTC().Format(dayForm)
	}
	return d
}

// have reports whether a period is among the days, of a month at least one day.
func (d days) have(period string) bool {
	n := len(period)
	return n <= len(dayForm) && d.from[:n] <= period && period <= d.to[:n]
}

// Of returns the counts of a canonical name or prefix from one day to another, both included, the
// oldest first; zero times do not bound. Days of long ago are there as months, which are whole.
func Of(tx registry.Tx, name string, from, to time.Time) ([]Count, error) {
	wanted := daysOf(from, to)
	var counts []Count
	err := eachCount(tx, name, func(period string, d registry.Document) error {
		if !wanted.have(period) {
			return nil
		}
		t, err := decodeTally(d)
		counts = append(counts, Count{period, t})
		return err
	})
	return counts, err
}

// eachCount calls f for each count of a name, the oldest first.
func eachCount(tx registry.Tx, name string, f func(period string, d registry.Document) error) error {
	prefix, after := name+" ", ""
	for {
		page, err := tx.Documents(registry.TableCounts, prefix, after, countsPage)
		if err != nil {
			return err
		}
		for _, d := range page {
			if err := f(d.Key[len(prefix):], d); err != nil {
				return err
			}
			after = d.Key
		}
		if len(page) < countsPage {
			return nil
		}
	}
}

// Top returns the limit names that people resolved most from one day to another, as Of has
// them, and the sum of all names. It reads all counts, not those of one moment.
func Top(ctx context.Context, store registry.Store, from, to time.Time, limit int) (top []NameCount, sum Tally, err error) {
	t := ranking{limit: limit, wanted: daysOf(from, to)}
	after := ""
	for {
		var page []registry.Document
		err := store.Read(ctx, func(tx registry.Tx) (err error) {
			page, err = tx.Documents(registry.TableCounts, "", after, countsPage)
			return err
		})
		if err != nil {
			return nil, Tally{}, fmt.Errorf("reading counts: %w", err)
		}
		for _, d := range page {
			if err := t.add(d); err != nil {
				return nil, Tally{}, err
			}
			after = d.Key
		}
		if len(page) < countsPage {
			t.rank()
			return t.top, t.sum, nil
		}
	}
}

// ranking finds the names with the greatest tallies. Those of one name come one after another.
type ranking struct {
	limit   int
	wanted  days
	current NameCount
	top     []NameCount
	sum     Tally
}

func (r *ranking) add(d registry.Document) error {
	name, period, _ := strings.Cut(d.Key, " ")
	if name == AllNames || !r.wanted.have(period) {
		return nil
	}
	t, err := decodeTally(d)
	if err != nil {
		return err
	}
	if name != r.current.Name {
		r.end()
		r.current = NameCount{Name: name}
	}
	r.current.Tally = r.current.plus(t)
	r.sum = r.sum.plus(t)
	return nil
}

// end ends the tallies of the current name.
func (r *ranking) end() {
	if r.current.Name == "" {
		return
	}
	if r.top = append(r.top, r.current); len(r.top) >= 2*r.limit+countsPage {
		r.sort()
	}
}

func (r *ranking) rank() {
	r.end()
	r.sort()
}

func (r *ranking) sort() {
	slices.SortFunc(r.top, func(a, b NameCount) int {
		return cmp.Or(cmp.Compare(b.People, a.People), cmp.Compare(b.Bots, a.Bots), strings.Compare(a.Name, b.Name))
	})
	r.top = r.top[:min(len(r.top), r.limit)]
}

// withAllNames returns tallies by "NAME DAY", those of some keys, with the sums of each day, and all keys in their order.
func withAllNames(tallies map[string]Tally, keys []string) (map[string]Tally, []string) {
	all := make(map[string]Tally, len(keys)+1)
	for _, key := range keys {
		sum := AllNames + key[strings.LastIndexByte(key, ' '):]
		all[key], all[sum] = tallies[key], all[sum].plus(tallies[key])
	}
	return all, slices.Sorted(maps.Keys(all))
}

// addCounts adds tallies to those of the store. Keys are "NAME DAY".
func addCounts(tx registry.WriteTx, keys []string, added map[string]Tally, now time.Time) error {
	added, keys = withAllNames(added, keys)
	documents := make([]registry.Document, len(keys))
	for i, key := range keys {
		value, err := tx.Document(registry.TableCounts, key)
		if err != nil {
			return err
		}
		if value == nil {
			if err := beginCount(tx, key, now); err != nil {
				return err
			}
		}
		before, err := decodeTally(registry.Document{Key: key, Value: value})
		if err != nil {
			before = Tally{} // there is none, or one that nobody can read
		}
		documents[i] = registry.Document{Key: key, Value: encodeTally(before.plus(added[key]))}
	}
	return tx.Put(registry.TableCounts, documents)
}

// beginCount is for the first count of a name on a day. The first one of a month adds the days of months
// long ago up, so that a name that is resolved each day for decades has a bounded number of counts.
func beginCount(tx registry.WriteTx, key string, now time.Time) error {
	name, day, _ := strings.Cut(key, " ")
	ofMonth, err := tx.Documents(registry.TableCounts, name+" "+day[:len(monthForm)], "", 1)
	if err != nil || len(ofMonth) > 0 {
		return err
	}
	now = now.UTC()
	first := time.Date(now.Year(), now.Month()-monthsOfDays, 1, 0, 0, 0, 0, time.UTC).Format(monthForm)
	months := make(map[string]Tally)
	var documents []registry.Document
	err = eachCount(tx, name, func(period string, d registry.Document) error {
		if len(period) < len(monthForm) || period[:len(monthForm)] >= first {
			return nil
		}
		month := period[:len(monthForm)]
		t, err := decodeTally(d)
		if err != nil {
			return nil //nolint:nilerr // it stays as it is, for who can read it
		}
		if len(period) == len(dayForm) {
			documents = append(documents, registry.Document{Key: d.Key})
		}
		months[month] = months[month].plus(t)
		return nil
	})
	if err != nil || len(documents) == 0 {
		return err
	}
	for month, t := range months {
		documents = append(documents, registry.Document{Key: name + " " + month, Value: encodeTally(t)})
	}
	return tx.Put(registry.TableCounts, documents)
}
