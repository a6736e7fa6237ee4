package field

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Type is the type of a field's values.
type Type uint8

// The types.
const (
	Text    Type = iota // preserved exactly
	Word                // trimmed text
	URI                 // a URI, or the name of an entry
	Time                // in UTC, with milliseconds
	Number              // a 32-bit int; 0 is empty
	Bool                // false is empty
	Status              // registry.Status
	List                // several texts
	JSON                // a JSON object as text, "" if empty
	Targets             // registry.Target
)

// Kinds are the kinds of entries that can have a field.
type Kinds uint8

// The kinds.
const (
	Both Kinds = iota
	Names
	Prefixes
)

// Merge is the rule for merging concurrent changes of a field.
type Merge uint8

// The rules.
const (
	Atomic    Merge = iota // one of the two values wins
	PerMember              // the members of a JSON object are merged separately
)

// Field describes a field of T, which is registry.Record or registry.Target.
type Field[T any] struct {
	// Name is the member name in JSON. Column is the column name in tables, and Flag the flag name of urnd
	// registry set, if they differ from Name.
	Name, Column, Flag string
	// Label is the name for display, in the singular: "alias of".
	Label string
	Type  Type
	// Doc describes the field in a sentence, for OpenAPI documents and forms. Usage is the help text of the
	// flag, with the placeholder of the value in backquotes; "" is Doc.
	Doc, Usage string
	Kinds      Kinds
	Merge      Merge
	Public     bool // responses of the resolver show it to everybody; other fields only to authorized clients
	// Redactable means that a redaction clears the field.
	Redactable bool
	// ReadOnly means that the registry sets the field.
	ReadOnly bool
	// Required means that documents contain the field even if it is empty.
	Required bool
	// WithdrawnOnly means that only withdrawn entries have the field.
	WithdrawnOnly bool
	// EndOfDay means that a date entered by a user stands for the end of the day.
	EndOfDay bool

	at    func(*T) any                   // returns a pointer to the value
	parse func(text string) (int, error) // validates a Number; nil accepts all
	of    string                         // suffix in errors: " of a target"
}

// Fields is a table of fields, in the order of document members. It must not be modified.
type Fields[T any] []*Field[T]

// Index returns the index of the field with a name, -1 if there is none.
func (fs Fields[T]) Index(name string) int {
	return slices.IndexFunc(fs, func(f *Field[T]) bool { return f.Name == name })
}

// Find returns the field with a name, nil if there is none.
func (fs Fields[T]) Find(name string) *Field[T] {
	if i := fs.Index(name); i >= 0 {
		return fs[i]
	}
	return nil
}

// ColumnName returns the column name in tables.
func (f *Field[T]) ColumnName() string {
	return cmp.Or(f.Column, f.Name)
}

// FlagName returns the flag name of urnd registry set.
func (f *Field[T]) FlagName() string {
	return cmp.Or(f.Flag, f.Name)
}

// FlagUsage returns the help text of the flag.
func (f *Field[T]) FlagUsage() string { return cmp.Or(f.Usage, f.Doc) }

// Empty reports whether a value is the zero value, or an empty slice.
func (f *Field[T]) Empty(v *T) bool {
	at := f.at(v)
	if text, ok := at.(*string); ok { // a shortcut for most fields: reflection is slow
		return *text == ""
	}
	value := reflect.ValueOf(at).Elem()
	return value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0
}

// Equal reports whether a and b have the same value of the field.
func (f *Field[T]) Equal(a, b *T) bool {
	switch x := f.at(a).(type) {
	case *time.Time:
		return registry.SameTime(*x, *pointer[time.Time](f, b))
	case *[]registry.Target:
		return slices.EqualFunc(*x, *pointer[[]registry.Target](f, b), registry.Target.Equal)
	default:
		return f.Empty(a) && f.Empty(b) || reflect.DeepEqual(x, f.at(b))
	}
}

// Copy copies the value of the field. Slices are shared.
func (f *Field[T]) Copy(to, from *T) {
	reflect.ValueOf(f.at(to)).Elem().Set(reflect.ValueOf(f.at(from)).Elem())
}

// pointer returns a pointer to the value of a field, whose type is V.
func pointer[V, T any](f *Field[T], v *T) *V {
	p, _ := f.at(v).(*V) // at always returns the same type
	return p
}
