package bulk

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// delimited reads CSV (RFC 4180) and what is like it.
type delimited struct {
	separator byte
	columns   []column
}

var errCells = errors.New("it has more fields than there are columns")

// lines implements parser.
func (d *delimited) lines(b block, take func(l *line, input string, fault error)) {
	var l line
	for _, r := range b.rows {
		if r.fault == nil && !slices.ContainsFunc(r.cells, func(cell string) bool { return cell != "" }) {
			continue
		}
		targets := l.entry.Targets[:0]
		l = line{number: r.number}
		l.entry.Targets = targets // its memory is used again
		fault := r.fault
		if fault == nil {
			fault = d.set(&l, r.cells)
		}
		if fault == nil {
			fault = l.finish()
		}
		take(&l, r.input, fault)
	}
}

// set sets the fields of a line.
func (d *delimited) set(l *line, cells []string) error {
	for i, cell := range cells {
		switch {
		case i < len(d.columns):
			if err := l.set(d.columns[i], cell); err != nil {
				return err
			}
		case cell != "":
			return errCells
		}
	}
	return nil
}

// header sets the columns from the first line. It returns those that are left out.
func (d *delimited) header(text string, m mapping) (ignored []string, err error) {
	seen := make(map[column]bool)
	var unknown []string
	first, err := newRows(text, 1, d.separator).next()
	if err = cmp.Or(err, first.fault); err != nil {
		return nil, fmt.Errorf("the names of the columns: %w", err)
	}
	for _, cell := range first.cells {
		cell = strings.TrimSpace(cell)
		if cell == "" {
			d.columns = append(d.columns, column{})
			continue
		}
		c, ok := m.of(cell)
		if !ok {
			unknown = append(unknown, cell)
		}
		if c.field == fieldIgnored {
			ignored = append(ignored, cell)
		} else if seen[c] {
			return nil, fmt.Errorf("there are two columns of the %s", c)
		}
		seen[c] = true
		d.columns = append(d.columns, c)
	}
	switch {
	case len(unknown) == len(d.columns):
		return nil, fmt.Errorf("the first line is to name the columns, such as name,target; "+
			"it has %.100q, none of which is ours or mapped to ours", strings.TrimSpace(text))
	case len(unknown) > 0:
		return nil, fmt.Errorf("the columns %s are not known; map them to ours, or to \"-\" to leave them out", strings.Join(unknown, ", "))
	case !seen[column{field: fieldName}] && !seen[column{field: fieldPrefix}]:
		return nil, errors.New("there is no column of names")
	}
	return ignored, nil
}

// separatorOf returns what separates the columns of a first line.
func separatorOf(text string) byte {
	best, most := byte(','), 0
	for _, separator := range []byte{',', ';', '\t'} {
		if n := strings.Count(text, string(separator)); n > most {
			best, most = separator, n
		}
	}
	return best
}
