package lookup

import (
	"reflect"
	"testing"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// The record of a response has each text of the registry that it has a field for.
func TestRecordOf(t *testing.T) {
	var e registry.Entry
	from := reflect.ValueOf(&e.Record).Elem()
	for f, value := range from.Fields() {
		if f.Type.Kind() == reflect.String {
			value.SetString(f.Name)
		}
	}
	to := reflect.ValueOf(recordOf(&e)).Elem()
	for f, value := range from.Fields() {
		if _, ok := reflect.TypeFor[resolver.Record]().FieldByName(f.Name); ok && f.Type == reflect.TypeFor[string]() &&
			to.FieldByName(f.Name).String() != value.String() {
			t.Errorf("recordOf does not copy %s", f.Name)
		}
	}
}
