package registry

// Tally is how often a name was resolved. It has nothing about who asked.
type Tally struct {
	People int64 `json:"people"`
	Bots   int64 `json:"bots"`
}

// Plus returns the sum of two tallies.
func (t Tally) Plus(other Tally) Tally { return Tally{t.People + other.People, t.Bots + other.Bots} }

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

// Resolved is the tally of a name in a period.
type Resolved struct {
	Name string
	Count
}

// AllNames is, in place of a name, all of them together. Their counts are written with those of each name, and never removed.
const AllNames = ""

// Days are those from one to another, both included. A month is among them if one of its days is.
type Days struct{ From, To string }

// ResolvedTx reads counts of resolutions.
type ResolvedTx interface {
	// Resolved returns the counts of a name, the oldest first.
	Resolved(name string, days Days) ([]Count, error)
	// MostResolved returns the limit names that people resolved most, and the sum of all names.
	MostResolved(days Days, limit int) ([]NameCount, Tally, error)
}

// ResolvedWriteTx changes counts of resolutions.
type ResolvedWriteTx interface {
	// AddResolved adds to counts. No two of them are of the same name and period.
	AddResolved(counts []Resolved) error
	// FoldResolved replaces the counts of days by those of their months: of the names without a count in a month or later, and of the days
	// before another month.
	FoldResolved(names []string, month, before string) error
}
