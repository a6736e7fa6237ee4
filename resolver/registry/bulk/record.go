package bulk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// versionSize is how many bytes a record has of a version, and lineSize of the number of its line and of what is of constant length after it.
const (
	versionSize = 4
	lineSize    = 8 + 8 + 4 + 8
)

// appendRecord appends a line as a record of the sort, which ends with the import. Records have the order of their bytes: the kind, prefixes
// first, the name and a NUL, which names do not have, the version, and the number of the line; the rest follows.
func appendRecord(b []byte, l *line) []byte {
	e := &l.entry
	b = append(b, 1-byte(e.Kind))
	b = append(b, e.Name...)
	b = append(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(e.Version)) //nolint:gosec // it is not negative
	b = binary.BigEndian.AppendUint64(b, uint64(l.number))  //nolint:gosec // it is not negative
	b = binary.BigEndian.AppendUint64(b, uint64(l.said))
	b = binary.BigEndian.AppendUint32(b, uint32(l.ifVersion)) //nolint:gosec // it is not negative
	b = binary.BigEndian.AppendUint64(b, uint64(e.Changed.UnixMilli()))
	for _, text := range [...]string{l.source, e.By, e.Note} {
		b = field.AppendText(b, text)
	}
	return field.OfRecord().AppendBinary(b, &e.Record)
}

// orderOf returns what the records of all lines of one version of a name have in common.
func orderOf(record []byte) []byte {
	return record[:bytes.IndexByte(record[1:], 0)+2+versionSize]
}

// lineOf returns the line of a record.
func lineOf(record []byte) (l line, err error) {
	order := orderOf(record)
	e := &l.entry
	name := len(order) - versionSize
	e.Key = registry.Key{Kind: registry.Kind(1 - order[0]), Name: string(order[1 : name-1])}
	e.Version = int(binary.BigEndian.Uint32(order[name:]))
	numbers := record[len(order):]
	if len(numbers) < lineSize {
		return line{}, fmt.Errorf("reading the sorted input: %w", field.ErrBinary)
	}
	l.number = int64(binary.BigEndian.Uint64(numbers)) //nolint:gosec // it was an int64
	l.said = fields(binary.BigEndian.Uint64(numbers[8:]))
	l.ifVersion = int(binary.BigEndian.Uint32(numbers[16:]))
	e.Changed = time.UnixMilli(int64(binary.BigEndian.Uint64(numbers[20:]))).UTC() //nolint:gosec // it was an int64
	rest := string(numbers[lineSize:])                                             // one copy, which all texts share
	for _, text := range [...]*string{&l.source, &e.By, &e.Note} {
		if *text, rest, err = field.CutText(rest); err != nil {
			return line{}, fmt.Errorf("reading the sorted input: %w", err)
		}
	}
	if rest, err = field.OfRecord().SetBinary(&e.Record, rest); err == nil && rest != "" {
		err = field.ErrBinary
	}
	if err != nil {
		return line{}, fmt.Errorf("reading the sorted input: %w", err)
	}
	return l, nil
}
