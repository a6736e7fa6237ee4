package registry

// Tally counts the resolutions of a name. It contains no data about the clients.
type Tally struct {
	People int64 `json:"people"`
	Bots   int64 `json:"bots"`
}

// Plus returns the sum of two tallies.
func (t Tally) Plus(other Tally) Tally { return Tally{t.People + other.People, t.Bots + other.Bots} }

// Count is the tally of a period in UTC: a day, "2031-05-01", or a month, "2031-05".
type Count struct {
	Period string `json:"period"`
	Tally
}

// NameCount is the tally of a name.
type NameCount struct {
	Name string `json:"name"`
	Tally
}

// ResolutionCount is the tally of a name in a period.
type ResolutionCount struct {
	Name string
	Count
}

// AllNames stands for all names together. Their counts are written along with those of each name, and never
// removed.
const AllNames = ""

// Days is a range of days; both ends are included. A month belongs to the range if one of its days does.
type Days struct{ From, To string }

// ResolutionTx reads the counts of resolutions.
type ResolutionTx interface {
	// ResolutionCounts returns the counts of a name, oldest first.
	ResolutionCounts(name string, days Days) ([]Count, error)
	// MostResolved returns the limit names that people resolved most often, and the tally of all names.
	MostResolved(days Days, limit int) ([]NameCount, Tally, error)
}

// ResolutionWriteTx changes the counts of resolutions.
type ResolutionWriteTx interface {
	// AddResolutions adds to counts. No two of them may have the same name and period.
	AddResolutions(counts []ResolutionCount) error
	// FoldResolutions merges counts of days into counts of months, for the given names: only days earlier than the
	// month before, and only names without a count in or after month.
	FoldResolutions(names []string, month, before string) error
}
