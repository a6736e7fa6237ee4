package status

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/metrics"
)

const day = 24 * time.Hour

// warnings are what will become a failure, or is probably not meant.
func (s Sources) warnings() Table {
	t := Table{ID: "warnings", Heading: "Warnings", Columns: []string{"about", "warning"}, None: "There is none."}
	if c := s.Certificate(); c != nil {
		if row := s.expiry(c.NotAfter); row.Severity != "" {
			t.Rows = append(t.Rows, Row{row.Severity, []string{"certificate", "it expires: " + row.Cells[1]}})
		}
	}
	for _, store := range s.Stores() {
		if severity := severityOfRoom(store.Free); severity != "" {
			t.Rows = append(t.Rows, Row{severity, []string{store.Name, "little is free: " + size(store.Free)}})
		}
	}
	for _, text := range s.Warnings() {
		t.Rows = append(t.Rows, Row{Warning, []string{"configuration", cut(text)}})
	}
	const room = 2500 // bytes
	return t.within(room)
}

// failing is what fails now, what is worst first.
func (s Sources) failing() Table {
	t := Table{ID: "failing", Heading: "Failing now", Columns: []string{"server", "is", "reason", "asked again"}, None: "Nothing that is known."}
	all := s.Failing()
	slices.SortStableFunc(all, func(a, b Failing) int {
		return cmp.Or(strings.Compare(string(a.Severity), string(b.Severity)), strings.Compare(a.Server, b.Server)) // critical, warning
	})
	for _, f := range all {
		again := "as it is needed"
		if left := f.Until.Sub(s.Now()); left > 0 {
			again = "in " + duration(left.Truncate(time.Second)+time.Second)
		}
		t.Rows = append(t.Rows, Row{f.Severity, []string{cut(f.Server), f.Is, cut(f.Why), again}})
	}
	const room = 4000 // bytes
	return t.within(room)
}

// errors are the last warnings and errors of the log, in at most so many bytes.
func (s Sources) errors(room int) Table {
	t := Table{
		ID: "errors", Heading: "Recent warnings and errors", Columns: []string{"last (UTC)", "level", "what", "details", "times"},
		None: "None since the start.",
	}
	for _, r := range s.Errors() {
		row := Row{Warning, []string{s.when(r.Last), "warning", r.Message, r.Attributes, number(r.Count)}}
		if r.Error {
			row.Severity, row.Cells[1] = Critical, "error"
		}
		if r.Others > 0 {
			row.Cells[4] += ", and " + number(r.Others) + " with other details"
		}
		t.Rows = append(t.Rows, row)
	}
	return t.within(room)
}

// when returns a time, and how long ago it was, which changes once a minute.
func (s Sources) when(at time.Time) string {
	at = at.UTC()
	switch ago := s.Now().Sub(at); {
	case ago < time.Minute:
		return at.Format(time.TimeOnly) + ", just now"
	case ago < day:
		return at.Format(time.TimeOnly) + ", " + uptime(ago) + " ago"
	default:
		return at.Format(time.DateTime)
	}
}

func (s Sources) requests() Table {
	t := Table{
		ID: "requests", Heading: "Requests since the start", None: "There was none yet.",
		Columns: []string{"form", "all", "2xx", "3xx", "4xx", "5xx", "disconnected", "median", "95 % within"},
	}
	for _, f := range s.Forms() {
		all := uint64(0)
		for _, n := range f.Classes {
			all += n
		}
		t.Rows = append(t.Rows, cells(
			f.Name, number(all), number(f.Classes[1]+f.Classes[2]), number(f.Classes[3]), number(f.Classes[4]), number(f.Classes[5]),
			number(f.Classes[0]), quantile(f.Duration, median), quantile(f.Duration, most),
		))
	}
	return t
}

func (s Sources) caches() Table {
	t := Table{
		ID: "caches", Heading: "Caches", None: "There is none.",
		Columns: []string{"cache", "lookups", "answered from it", "entries", "memory", "evicted"},
	}
	for _, c := range s.Caches() {
		all, found := uint64(0), c.Lookups["hit"]+c.Lookups["negative"]+c.Lookups["stale"]
		for _, n := range c.Lookups {
			all += n
		}
		t.Rows = append(t.Rows, cells(c.Name, number(all), share(found, all), number(uint64(max(c.Entries, 0))), size(c.Bytes), number(c.Evictions)))
	}
	slices.SortFunc(t.Rows, func(a, b Row) int { return slices.Compare(a.Cells, b.Cells) })
	return t
}

// systems are the servers that urnd asks, the slowest first.
func (s Sources) systems() Table {
	t := Table{
		ID: "systems", Heading: "Origins and other servers that urnd asks, the slowest first", None: "None was asked yet.",
		Columns: []string{"server", "asked", "failed", "median", "95 % within", "outcomes"},
	}
	all := s.Systems()
	slices.SortStableFunc(all, func(a, b metrics.System) int {
		slow, _, _ := a.Duration.Quantile(most)
		slower, _, _ := b.Duration.Quantile(most)
		return cmp.Compare(slower, slow)
	})
	const mostSystems = 20 // there may be many DNS servers
	for _, system := range all[:min(len(all), mostSystems)] {
		n, failed := system.Duration.Count(), system.Failures()
		row := cells(
			system.Kind+" "+system.Name, number(n), share(failed, n), quantile(system.Duration, median), quantile(system.Duration, most), outcomes(system.Outcomes),
		)
		const few, some, many = 5, 20, 2 // failures, and one of so many
		switch {
		case failed < few:
		case failed*many >= n:
			row.Severity = Critical
		case failed*some >= n:
			row.Severity = Warning
		}
		t.Rows = append(t.Rows, row)
	}
	t.More = len(all) - len(t.Rows)
	return t
}

func (s Sources) registry() Table {
	t := Table{ID: "registry", Heading: "Registry", Columns: []string{"what", "how many"}, None: "There is none, or it cannot be asked."}
	r := s.Registry()
	if r == nil {
		return t
	}
	for _, row := range [...]struct {
		of string
		n  int64
	}{
		{"active names", r.Active},
		{"reserved names", r.Reserved},
		{"withdrawn names", r.Withdrawn},
		{"aliases among them", r.Aliases},
		{"targets", r.Targets},
		{"prefixes", r.Prefixes},
		{"versions of all", r.Changes},
	} {
		t.Rows = append(t.Rows, cells(row.of, number(uint64(max(row.n, 0)))))
	}
	return t
}

// severityOfRoom returns how urgent it is that so many bytes are free on a file system: a registry that cannot be written takes no changes.
func severityOfRoom(free int64) Severity {
	const little, none = 1 << 30, 100 << 20
	switch {
	case free < 0 || free >= little:
		return ""
	case free < none:
		return Critical
	default:
		return Warning
	}
}

func (s Sources) stores() Table {
	t := Table{ID: "stores", Heading: "Stores", Columns: []string{"store", "place", "state", "size", "at most", "free there"}, None: "There is none."}
	for _, store := range s.Stores() {
		row := Row{store.Severity, []string{store.Name, cut(store.Place), store.State, nothing, nothing, nothing}}
		if store.Size >= 0 {
			row.Cells[3] = size(store.Size)
		}
		if store.Most > 0 {
			row.Cells[4] = size(store.Most)
		}
		if store.Free >= 0 {
			row.Cells[5] = size(store.Free)
		}
		if severity := severityOfRoom(store.Free); severity != "" && row.Severity != Critical {
			row.Severity = severity
		}
		t.Rows = append(t.Rows, row)
	}
	const room = 3000 // bytes
	return t.within(room)
}

func (s Sources) machines() Table {
	t := Table{ID: "machines", Heading: "Machines", Columns: []string{"machine", "what it does", "until (UTC)"}}
	for _, m := range s.Machines() {
		until := nothing
		if !m.Until.IsZero() {
			until = m.Until.UTC().Format(time.DateTime)
		}
		t.Rows = append(t.Rows, cells(cut(m.Name), m.Does, until))
	}
	return t
}

// certificate tells whose that of urnd is, and when it expires.
func (s Sources) certificate() Table {
	t := Table{ID: "certificate", Heading: "Certificate", Columns: []string{"property", "value"}, None: "There is none."}
	if c := s.Certificate(); c != nil {
		t.Rows = []Row{
			cells("names", cut(cmp.Or(strings.Join(namesOf(c), ", "), nothing))), cells("subject", cut(cmp.Or(c.Subject.String(), nothing))),
			cells("issuer", cut(cmp.Or(c.Issuer.String(), nothing))), s.expiry(c.NotAfter),
		}
	}
	return t
}

// namesOf returns the names and addresses that a certificate is for.
func namesOf(c *x509.Certificate) (names []string) {
	names = append(names, c.DNSNames...)
	for _, address := range c.IPAddresses {
		names = append(names, address.String())
	}
	return names
}

func (s Sources) expiry(at time.Time) Row {
	const soon, verySoon = 21 * day, 3 * day
	left := at.Sub(s.Now())
	row := cells("expires", fmt.Sprintf("%s, in %d days", at.UTC().Format(time.DateTime), left/day))
	switch {
	case left < 0:
		row.Cells[1], row.Severity = "it expired at "+at.UTC().Format(time.DateTime), Critical
	case left < verySoon:
		row.Severity = Critical
	case left < soon:
		row.Severity = Warning
	}
	return row
}

func (s Sources) limits() Table {
	t := Table{ID: "limits", Heading: "Limits", Columns: []string{"limit", "in use", "at most"}, None: "There is none."}
	for _, l := range s.Limits() {
		row := cells(l.Name, strconv.Itoa(l.Used), strconv.Itoa(l.Max))
		if l.Max > 0 && l.Used >= l.Max {
			row.Severity = Critical
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
