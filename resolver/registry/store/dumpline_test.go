package store

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Every field of an entry survives a round trip through a portable backup.
func TestDumpOfFields(t *testing.T) {
	v := sealed{Entry: registry.Entry{
		Key: registry.Name("urn:example:a"), Seq: 7, Version: 2, Changed: toTime(1), By: "anna", Note: "why",
		Redacted: true,
		Record:   registry.Record{Since: toTime(1), Targets: []registry.Target{{URI: "https://example.org/"}}},
	}, salt: make([]byte, saltSize), digest: make([]byte, digestSize)}
	again := func() sealed {
		t.Helper()
		text, err := json.Marshal(dumpLine{Version: dumped(&v)})
		if err != nil {
			t.Fatal(err)
		}
		var line dumpLine
		if err := parseStrictly(text, &line); err != nil {
			t.Fatal(err)
		}
		return line.Version.sealed()
	}
	if got := again(); !reflect.DeepEqual(got, v) {
		t.Errorf("%+v came back as %+v", v, got)
	}
	for name, of := range map[string]reflect.Value{
		"Record": reflect.ValueOf(&v.Record).Elem(), "Target": reflect.ValueOf(&v.Targets[0]).Elem(),
	} {
		for i := range of.NumField() {
			t.Run(name+"."+of.Type().Field(i).Name, func(t *testing.T) {
				was := reflect.New(of.Field(i).Type()).Elem()
				was.Set(of.Field(i))
				changed := another(t, of.Field(i))
				if at, ok := changed.Interface().(time.Time); ok {
					changed = reflect.ValueOf(at.UTC())
				}
				of.Field(i).Set(changed)
				if got := again(); !reflect.DeepEqual(got, v) {
					t.Errorf("%+v came back as %+v", v, got)
				}
				of.Field(i).Set(was)
			})
		}
	}
}
