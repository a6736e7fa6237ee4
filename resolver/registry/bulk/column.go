package bulk

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// fieldID identifies a column of a table or a member of a JSON object: an index into columnNames.
type fieldID uint8

// The fields. Those from fieldRecord on are fields of a record, those from fieldURI on are fields of a
// target, each in the order of its table in package field.
const (
	fieldIgnored fieldID = iota
	fieldName
	fieldPrefix
	fieldVersion
	fieldIfVersion
	fieldRecord
)

// The fields that need code of their own.
var (
	fieldStatus   = recordField("status")
	fieldSince    = recordField("since")
	fieldAlias    = recordField("alias")
	fieldTargets  = recordField("targets")
	fieldMetadata = recordField("metadata")
	fieldSandbox  = recordField("sandbox")

	fieldChanged = fieldRecord + fieldID(len(field.RecordFields()))
	fieldBy      = fieldChanged + 1
	fieldNote    = fieldChanged + 2
	fieldMember  = fieldChanged + 3 // a member of the metadata, named by the column
	fieldURI     = fieldChanged + 4
	fieldsEnd    = fieldURI + fieldID(len(field.TargetFields()))
)

// recordField returns the fieldID of the record field with this name.
func recordField(name string) fieldID {
	return fieldRecord + fieldID(field.RecordFields().Index(name)) //nolint:gosec // the name is in the table
}

// columnNames are the column names that an export writes, indexed by fieldID. "-" in a mapping ignores a
// column.
var columnNames = newColumnNames()

func newColumnNames() []string {
	names := []string{"-", "name", "prefix", "version", "if_version"}
	for _, f := range field.RecordFields() {
		names = append(names, f.ColumnName())
	}
	names = append(names, "changed", "by", "note", memberPrefix+"MEMBER")
	for _, f := range field.TargetFields() {
		names = append(names, f.ColumnName())
	}
	return names
}

// synonym returns the field that an alternative column name stands for, fieldsEnd if it is unknown.
func synonym(name string) fieldID {
	switch name {
	case "urn", "identifier":
		return fieldName
	case "url", "uri":
		return fieldURI
	case "seq", "warning": // members of the JSON documents of the API
		return fieldIgnored
	default:
		return fieldsEnd
	}
}

// fields is a set of fields, a bit mask by fieldID.
type fields uint64

func (s fields) has(f fieldID) bool { return s&(1<<f) != 0 }
func (s *fields) add(f fieldID)     { *s |= 1 << f }

// column is a parsed column name. target is the zero-based number of a target column: 0 is target, 1 is
// target2. member is the name of the metadata member, of fieldMember only.
type column struct {
	field  fieldID
	target int
	member string
}

// String returns the column name that an export writes.
func (c column) String() string {
	switch {
	case c.field == fieldMember:
		return memberPrefix + c.member
	case c.target > 0:
		return columnNames[c.field] + strconv.Itoa(c.target+1)
	default:
		return columnNames[c.field]
	}
}

// columnOf parses a column name of this package; the result is false if the name is unknown.
func columnOf(name string) (column, bool) {
	if c, is := memberColumn(name); is {
		return c, true
	}
	name = strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
	if name == "_" {
		return column{}, true
	}
	if f := fieldNamed(name); f < fieldsEnd {
		return column{field: f}, true
	}
	digits := len(strings.TrimRight(name, "0123456789"))
	n, err := strconv.Atoi(name[digits:])
	f := fieldNamed(strings.TrimSuffix(name[:digits], "_"))
	if err == nil && f >= fieldURI && f < fieldsEnd && 1 <= n && n <= registry.MaxTargets {
		return column{field: f, target: n - 1}, true
	}
	return column{}, false
}

func fieldNamed(name string) fieldID {
	if i := slices.Index(columnNames[1:], name); i >= 0 {
		return fieldID(i + 1) //nolint:gosec // the table is short
	}
	return synonym(name)
}

// mapping maps names of foreign columns to columns of this package. The name others stands for every unmapped
// column.
type mapping map[string]column

// others is the key of a mapping that stands for every unmapped column.
const others = "*"

func newMapping(names map[string]string) (mapping, error) {
	m := make(mapping, len(names))
	for foreign, ours := range names {
		c, ok := columnOf(ours)
		if !ok {
			return nil, fmt.Errorf("unknown column %q: use one of %s, or \"-\" to omit it", ours,
				strings.Join(columnNames[1:], ", "))
		}
		if foreign == others && c.field != fieldIgnored {
			return nil, fmt.Errorf("the other columns can only be omitted, by \"-\", not mapped to %q", ours)
		}
		m[strings.TrimSpace(foreign)] = c
	}
	return m, nil
}

// of returns the column that a name in the input stands for; the result is false if the name is unknown.
func (m mapping) of(name string) (column, bool) {
	name = strings.TrimSpace(name)
	if c, ok := m[name]; ok {
		return c, true
	}
	if c, ok := columnOf(name); ok {
		return c, true
	}
	_, ok := m[others]
	return column{}, ok
}
