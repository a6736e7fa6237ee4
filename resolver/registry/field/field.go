package field

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Type is what the values of a field are.
type Type uint8

// The types.
const (
	Text    Type = iota // as it was written
	Word                // a text without spaces around it
	URI                 // a URI, or the name of an entry
	Time                // in UTC, to the millisecond
	Number              // an int of 32 bits; 0 is none
	Bool                // false is none
	Status              // registry.Status
	List                // texts
	JSON                // a JSON object as text, "" for none
	Targets             // registry.Target
)

// Kinds are the entries that a field can be set of.
type Kinds uint8

// The kinds.
const (
	Both Kinds = iota
	Names
	Prefixes
)

// Merge is the rule by which two changes of a field are merged.
type Merge uint8

// The rules.
const (
	Whole   Merge = iota // the value as a whole is of one of both
	Members              // each member of the JSON object is
)

// Field is a field of T, which is registry.Record or registry.Target.
type Field[T any] struct {
	// Name is that of the member in JSON; Column is that of the column in tables, and Flag that of the flag of urnd
	// registry set, where these differ from it.
	Name, Column, Flag string
	// Label is what people read, of one value: "alias of".
	Label string
	Type  Type
	// Doc says in a sentence what it is: OpenAPI documents and forms have it. Usage is what help says of the flag, in
	// which the value is called as what stands in back quotes; "" is Doc.
	Doc, Usage string
	Kinds      Kinds
	Merge      Merge
	Public     bool // answers of the resolver show it to all; others see it who may read the registry
	// Redactable is whether a redaction removes it.
	Redactable bool
	// ReadOnly is whether the registry sets it.
	ReadOnly bool
	// Required is whether documents have it also where it is empty.
	Required bool
	// OfWithdrawn is whether only what is withdrawn has it.
	OfWithdrawn bool
	// EndOfDay is whether a date means its end, where people type one for a time.
	EndOfDay bool

	at    func(*T) any                   // a pointer to the value
	parse func(text string) (int, error) // a Number that not all numbers are; nil is any
	of    string                         // what it is of, in errors: " of a target"
}

// Fields is a table of fields, in the order of the members of documents. It is not to be changed.
type Fields[T any] []*Field[T]

// Index returns the index of the field with a name, -1 for none.
func (fs Fields[T]) Index(name string) int {
	return slices.IndexFunc(fs, func(f *Field[T]) bool { return f.Name == name })
}

// Find returns the field with a name, nil for none.
func (fs Fields[T]) Find(name string) *Field[T] {
	if i := fs.Index(name); i >= 0 {
		return fs[i]
	}
	return nil
}

// ColumnName returns the name of the column in tables.
func (f *Field[T]) ColumnName() string {
	return cmp.Or(f.Column, f.Name)
}

// FlagName returns the name of the flag of urnd registry set.
func (f *Field[T]) FlagName() string {
	return cmp.Or(f.Flag, f.Name)
}

// FlagUsage returns what help says of the flag.
func (f *Field[T]) FlagUsage() string { return cmp.Or(f.Usage, f.Doc) }

// Empty reports whether a value is the zero value.
func (f *Field[T]) Empty(v *T) bool {
	at := f.at(v)
	if text, ok := at.(*string); ok { // most are, and reflection is slow
		return *text == ""
	}
	value := reflect.ValueOf(at).Elem()
	return value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0
}

// Equal reports whether a and b have the same value.
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

// Copy sets the value of to as from has it.
func (f *Field[T]) Copy(to, from *T) {
	reflect.ValueOf(f.at(to)).Elem().Set(reflect.ValueOf(f.at(from)).Elem())
}

// pointer returns where the value of a field is, which is a V.
func pointer[V, T any](f *Field[T], v *T) *V {
	p, _ := f.at(v).(*V) // it is: at always returns the same type
	return p
}
