package bulk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// A record of the sort is a line: its key, by which records have their order, and the rest. The key is the kind, prefixes
// first, the name and a NUL, which names do not have, the version, and the number of the line.
const (
	versionSize = 4
	numberSize  = 8
	saidSize    = 8
)

// appendRecord appends a line as a record.
func appendRecord(b []byte, l *line) []byte {
	b = append(b, 1-byte(l.entry.Kind))
	b = append(b, l.entry.Name...)
	b = append(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(l.entry.Version)) //nolint:gosec // it is not negative
	b = binary.BigEndian.AppendUint64(b, uint64(l.number))        //nolint:gosec // it is not negative
	b = binary.LittleEndian.AppendUint64(b, uint64(l.said))
	b = binary.LittleEndian.AppendUint32(b, uint32(l.ifVersion)) //nolint:gosec // it is not negative
	b = binary.AppendUvarint(b, uint64(len(l.source)))
	b = append(b, l.source...)
	return appendEntry(b, &l.entry)
}

// orderOf returns what the records of all lines of one version of a name have in common.
func orderOf(record []byte) []byte {
	return record[:bytes.IndexByte(record[1:], 0)+2+versionSize]
}

// lineOf returns the line of a record.
func lineOf(record []byte) (line, error) {
	order := orderOf(record)
	rest := record[len(order):]
	l := line{
		number:    int64(binary.BigEndian.Uint64(rest)), //nolint:gosec // it was an int64
		said:      fields(binary.LittleEndian.Uint64(rest[numberSize:])),
		ifVersion: int(binary.LittleEndian.Uint32(rest[numberSize+saidSize:])),
	}
	l.entry.Kind = registry.Kind(1 - order[0])
	l.entry.Name = string(order[1 : len(order)-versionSize-1])
	rest = rest[numberSize+saidSize+4:]
	size, n := binary.Uvarint(rest)
	l.source, rest = string(rest[n:n+int(size)]), rest[n+int(size):] //nolint:gosec // it was the length of a string
	if err := decodeEntry(&l.entry, rest); err != nil {
		return line{}, fmt.Errorf("reading the sorted input: %w", err)
	}
	if !l.said.has(fieldSince) {
		l.entry.Since = time.Time{} // Decode has taken Changed
	}
	return l, nil
}
