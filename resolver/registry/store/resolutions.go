package store

import (
	"cmp"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// ofDays is the condition for periods from the day $1 to the day $2. A month sorts before its days.
const ofDays = "(period >= $1 OR period = substr($1, 1, 7)) AND period <= $2"

// addTally adds a tally to the existing one of the same name and period.
const addTally = " ON CONFLICT (name, period) DO UPDATE SET people = resolved.people + excluded.people, bots = " +
	"resolved.bots + excluded.bots"

// ResolutionCounts implements registry.Tx.
func (t *transaction) ResolutionCounts(name string, days registry.Days) (counts []registry.Count, err error) {
	if registry.CheckKey(name) != nil {
		return nil, nil //nolint:nilerr // such a key cannot exist
	}
	err = t.conn.Query("SELECT period, people, bots FROM resolved WHERE name = $3 AND "+ofDays+" ORDER BY period",
		func(row Row) error {
			counts = append(counts, registry.Count{
				Period: row.Text(0),
				Tally:  registry.Tally{People: row.Int(1), Bots: row.Int(2)},
			})
			return nil
		}, days.From, days.To, name)
	return counts, err
}

// resolvedPage is roughly how many counts a statement ranks: few enough to stay within the statement timeout of
// a database.
const resolvedPage = 50_000

// MostResolved implements registry.Tx. It ranks pages of complete names, and merges the top names of each page.
func (t *transaction) MostResolved(
	days registry.Days, limit int,
) (top []registry.NameCount, sum registry.Tally, err error) {
	const counted = "coalesce(CAST(sum(people) AS BIGINT), 0) AS p, coalesce(CAST(sum(bots) AS BIGINT), 0) AS b " +
		"FROM resolved WHERE name > $3 AND name <= $4 AND " + ofDays
	for after, last := registry.AllNames, false; !last; {
		last = true
		to := "\U0010ffff"
		err = t.conn.Query("SELECT name FROM resolved WHERE name > $1 ORDER BY name, period LIMIT 1 OFFSET $2",
			func(row Row) error {
				to, last = row.Text(0), false
				return nil
			}, after, int64(resolvedPage))
		if err != nil {
			return nil, registry.Tally{}, err
		}
		err = t.conn.Query("SELECT name, "+counted+" GROUP BY name ORDER BY p DESC, b DESC, name LIMIT $5",
			func(row Row) error {
				top = append(top, registry.NameCount{
					Name:  row.Text(0),
					Tally: registry.Tally{People: row.Int(1), Bots: row.Int(2)},
				})
				return nil
			}, days.From, days.To, after, to, int64(limit))
		if err == nil {
			err = t.conn.Query("SELECT "+counted, func(row Row) error {
				sum = sum.Plus(registry.Tally{People: row.Int(0), Bots: row.Int(1)})
				return nil
			}, days.From, days.To, after, to)
		}
		if err != nil {
			return nil, registry.Tally{}, err
		}
		slices.SortFunc(top, func(a, b registry.NameCount) int {
			return cmp.Or(cmp.Compare(b.People, a.People), cmp.Compare(b.Bots, a.Bots), strings.Compare(a.Name, b.Name))
		})
		top, after = top[:min(len(top), limit)], to
	}
	return top, sum, nil
}

// AddResolutions implements registry.WriteTx.
func (t *transaction) AddResolutions(counts []registry.ResolutionCount) error {
	for i := range counts {
		if err := registry.CheckKey(counts[i].Name); err != nil {
			return err
		}
	}
	return t.conn.Insert("resolved", []string{"name", "period", "people", "bots"}, addTally, len(counts),
		func(i int, v Values) {
			v.Text(counts[i].Name)
			v.Text(counts[i].Period)
			v.Int(counts[i].People)
			v.Int(counts[i].Bots)
		})
}

// FoldResolutions implements registry.WriteTx.
func (t *transaction) FoldResolutions(names []string, month, before string) error {
	const folded = " FROM resolved WHERE name IN ($1...) AND period < $2 AND length(period) = 10 " +
		"AND NOT EXISTS (SELECT 1 FROM resolved later WHERE later.name = resolved.name AND later.period >= $3)"
	err := t.conn.Exec("INSERT INTO resolved (name, period, people, bots) SELECT name, substr(period, 1, 7), "+
		"CAST(sum(people) AS BIGINT), "+
		"CAST(sum(bots) AS BIGINT)"+folded+" GROUP BY name, substr(period, 1, 7)"+addTally, names, before, month)
	if err != nil {
		return err
	}
	return t.conn.Exec("DELETE"+folded, names, before, month)
}
