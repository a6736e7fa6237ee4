package bulk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// versionSize is the length of the version number in a record, in bytes. lineSize is that of the line number
// and the fixed-length fields after it.
const (
	versionSize = 4
	lineSize    = 8 + 8 + 4 + 8
)

// appendRecord appends a line as a record of the sort, a temporary format. Records sort by their bytes: the
// kind, prefixes first; the name and a NUL, which names never contain; the version; and the line number. The
// other fields follow.
func appendRecord(b []byte, l *line) []byte {
	e := &l.entry
	b = append(b, 1-byte(e.Kind))
	b = append(b, e.Name...)
	b = append(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(e.Version)) //nolint:gosec // not negative
	b = binary.BigEndian.AppendUint64(b, uint64(l.number))  //nolint:gosec // not negative
	b = binary.BigEndian.AppendUint64(b, uint64(l.fields))
	b = binary.BigEndian.AppendUint32(b, uint32(l.ifVersion)) //nolint:gosec // not negative
	b = binary.BigEndian.AppendUint64(b, uint64(e.Changed.UnixMilli()))
	for _, text := range [...]string{l.source, e.By, e.Note} {
		b = field.AppendText(b, text)
	}
	return field.RecordFields().AppendBinary(b, &e.Record)
}

// orderOf returns the sort key that the records of one version of a name share: all before the line number.
func orderOf(record []byte) []byte {
	return record[:bytes.IndexByte(record[1:], 0)+2+versionSize]
}

// keyOf returns the part of a sort key that all versions of a name share.
func keyOf(order []byte) []byte { return order[:len(order)-versionSize] }

// lineOf decodes the line of a record.
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
	l.number = int64(binary.BigEndian.Uint64(numbers)) //nolint:gosec // was an int64
	l.fields = fields(binary.BigEndian.Uint64(numbers[8:]))
	l.ifVersion = int(binary.BigEndian.Uint32(numbers[16:]))
	e.Changed = time.UnixMilli(int64(binary.BigEndian.Uint64(numbers[20:]))).UTC() //nolint:gosec // was an int64
	rest := string(numbers[lineSize:])                                             // one copy, shared by all texts
	for _, text := range [...]*string{&l.source, &e.By, &e.Note} {
		if *text, rest, err = field.CutText(rest); err != nil {
			return line{}, fmt.Errorf("reading the sorted input: %w", err)
		}
	}
	if rest, err = field.RecordFields().SetBinary(&e.Record, rest); err == nil && rest != "" {
		err = field.ErrBinary
	}
	if err != nil {
		return line{}, fmt.Errorf("reading the sorted input: %w", err)
	}
	return l, nil
}
