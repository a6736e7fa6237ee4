package config_test

import (
	"encoding"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// TestInvalidatesDeclared requires that each setting or its section declares what a change invalidates. A new
// setting fails until that is declared.
func TestInvalidatesDeclared(t *testing.T) {
	for _, s := range config.Settings() {
		switch {
		case s.Invalidates == 0 && !s.IsSection():
			t.Errorf("%s does not say what it invalidates, and neither does its section: config.Nothing, where no "+
				"contents rest on it", s.Path)
		case s.Invalidates&config.Nothing != 0 && s.Invalidates != config.Nothing:
			t.Errorf("%s invalidates nothing, and something", s.Path)
		}
	}
}

// TestBasis requires that a change of any setting, even deep in a list of tables, changes the basis of exactly
// the contents that it invalidates.
func TestBasis(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	declared := make(map[string]config.Contents)
	for _, s := range config.Settings() {
		if !s.IsSection() {
			declared[s.Path] = s.Invalidates
		}
	}
	changed := 0
	for _, path := range keysOfType("", reflect.TypeFor[config.Config]()) {
		before, after := config.Default(), config.Default()
		settingAt(&before, path)
		if !alter(t, settingAt(&after, path)) {
			continue // a table
		}
		changed++
		setting, _, _ := strings.Cut(path, ".*.")
		rests := declared[setting]
		if slices.ContainsFunc(config.Elements(), func(e config.Setting) bool {
			return e.Invalidates == config.Nothing && (e.Path == path || strings.HasPrefix(path, e.Path+"."))
		}) {
			rests = config.Nothing
		}
		for of := config.Records; of < config.Nothing; of <<= 1 {
			if other := before.Basis(of) != after.Basis(of); other != (rests&of != 0) {
				t.Errorf("%s: the basis of %b changes: %t", path, of, other)
			}
		}
	}
	if changed < len(declared) {
		t.Errorf("%d of %d settings were changed", changed, len(declared))
	}
}

// TestBasisOfLists requires that lists which differ only in the boundaries of elements have different bases.
func TestBasisOfLists(t *testing.T) {
	seen := make(map[string][]string)
	for _, roots := range [][]string{
		nil,
		{""},
		{"/a /b"},
		{"/a", "/b"},
		{"/a", "/b "},
		{`/a", "/b`},
		{"/a\xff"},
		{"/a\xfe"},
	} {
		c := config.Default()
		c.File.Roots = roots
		basis := c.Basis(config.Disk)
		if other, ok := seen[basis]; ok {
			t.Errorf("%q and %q have the same basis", roots, other)
		}
		seen[basis] = roots
	}
	empty, none := config.Default(), config.Default()
	empty.File.Roots, none.File.Roots = []string{}, nil
	if empty.Basis(config.Disk) != none.Basis(config.Disk) {
		t.Error("an empty list is not none")
	}
}

// settingAt returns the field of a setting; empty lists of tables on the path get an element.
func settingAt(c *config.Config, path string) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for key := range strings.SplitSeq(path, ".") {
		if key == "*" {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			v = v.Index(0)
			continue
		}
		v = v.FieldByIndex(fieldOf(v.Type(), key))
	}
	return v
}

func fieldOf(typ reflect.Type, key string) []int {
	for field := range typ.Fields() {
		if field.Tag.Get("mapstructure") == key {
			return field.Index
		}
	}
	return nil
}

// alter changes the value of a setting, and reports whether it could.
func alter(t *testing.T, v reflect.Value) bool {
	t.Helper()
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.New(v.Type().Elem()).Elem()))
	case reflect.Struct:
		if _, isValue := v.Interface().(encoding.TextMarshaler); !isValue {
			return false
		}
		v.SetZero()
	default:
		t.Fatalf("a setting of type %s", v.Type())
	}
	return true
}
