package status

import (
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/proxy/pages"
)

// Failing is a server that fails now.
type Failing struct {
	Server string
	Is     string    // what it is for urnd, such as "DNS server"
	Why    string    // "" where it is not known
	Until  time.Time // when it is asked again; the zero value is at any time
	// Severity is Critical for what urnd needs, and Warning for one of many.
	Severity pages.Severity
}

// MostFailing bounds the servers on the page, of each kind.
const MostFailing = 20

// failing returns rows of what fails now, what is worst first.
func (s Sources) failing() (rows []pages.Row) {
	all := s.Failing()
	slices.SortStableFunc(all, func(a, b Failing) int {
		if a.Severity != b.Severity {
			return strings.Compare(string(a.Severity), string(b.Severity)) // critical, warning
		}
		return strings.Compare(a.Server, b.Server)
	})
	for _, f := range all {
		again := "as it is needed"
		if left := f.Until.Sub(s.Now()); left > 0 {
			again = "in " + duration(left.Truncate(time.Second)+time.Second)
		}
		rows = append(rows, pages.Row{Severity: f.Severity, Cells: []string{cut(f.Server), f.Is, cut(f.Why), again}})
	}
	const room = 5000 // octets
	return orNone(within(rows, room, ""), "nothing that is known")
}

// or returns a text, or another one where it is "".
func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// cut shortens a text that others have written.
func cut(text string) string {
	const mostText = 240 // octets
	return pages.Shorten(text, mostText)
}
