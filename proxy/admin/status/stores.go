package status

import (
	"crypto/x509"
	"fmt"
	"strings"
	"time"

	"github.com/urnd/urnd/proxy/pages"
)

// Store is where urnd keeps something.
type Store struct {
	Name, Place string
	State       string
	Severity    pages.Severity
	Size        int64 // octets; negative where it is not known
	Most        int64 // octets that it may have; 0 for no bound
	Free        int64 // octets on the file system of the place; negative where that is not known
}

// The room on a file system below which it is a warning, and critical: a registry that cannot be written takes no changes.
const (
	littleRoom = 1 << 30
	noRoom     = 100 << 20
)

func (s Sources) stores() (rows []pages.Row) {
	for _, store := range s.Stores() {
		row := pages.Row{Severity: store.Severity, Cells: []string{store.Name, cut(store.Place), store.State, nothing, nothing, nothing}}
		if store.Size >= 0 {
			row.Cells[3] = size(store.Size)
		}
		if store.Most > 0 {
			row.Cells[4] = size(store.Most)
		}
		if store.Free >= 0 {
			row.Cells[5] = size(store.Free)
			switch {
			case store.Free < noRoom:
				row.Severity = pages.Critical
			case store.Free < littleRoom && row.Severity != pages.Critical:
				row.Severity = pages.Warning
			}
		}
		rows = append(rows, row)
	}
	return orNone(rows, "there is none")
}

// certificate tells whose that of urnd is, and when it expires.
func (s Sources) certificate() []pages.Row {
	c := s.Certificate()
	if c == nil {
		return []pages.Row{cells("there is none")}
	}
	return []pages.Row{
		{Cells: []string{"names", cut(or(strings.Join(namesOf(c), ", "), nothing))}},
		{Cells: []string{"subject", cut(or(c.Subject.String(), nothing))}},
		{Cells: []string{"issuer", cut(or(c.Issuer.String(), nothing))}},
		s.expiry(c.NotAfter),
	}
}

// namesOf returns the names and addresses that a certificate is for.
func namesOf(c *x509.Certificate) (names []string) {
	names = append(names, c.DNSNames...)
	for _, address := range c.IPAddresses {
		names = append(names, address.String())
	}
	return names
}

func (s Sources) expiry(at time.Time) pages.Row {
	const day, soon, verySoon = 24 * time.Hour, 21, 3 // days
	left := at.Sub(s.Now())
	row := cells("expires", fmt.Sprintf("%s, in %d days", at.UTC().Format(time.DateTime), left/day))
	switch {
	case left < 0:
		row.Cells[1], row.Severity = "it expired at "+at.UTC().Format(time.DateTime), pages.Critical
	case left < verySoon*day:
		row.Severity = pages.Critical
	case left < soon*day:
		row.Severity = pages.Warning
	}
	return row
}
