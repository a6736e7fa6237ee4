package store

import (
	"reflect"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Every field of an entry is covered by the digest of its version or by its leaf.
func TestDigestOfFields(t *testing.T) {
	plain := registry.Entry{
		Key: registry.Name("urn:example:a"), Seq: 7, Version: 2, Changed: time.UnixMilli(1),
		Record: registry.Record{
			Since: time.UnixMilli(1), Targets: []registry.Target{{URI: "https://example.org/"}},
		},
	}
	leaf := func(e registry.Entry) [digestSize]byte {
		var h hasher
		digest := h.content(&e, make([]byte, saltSize))
		return h.leaf(&e, digest[:])
	}
	e := plain
	for name, v := range map[string]reflect.Value{
		"Record": reflect.ValueOf(&e.Record).Elem(), "Target": reflect.ValueOf(&e.Targets[0]).Elem(),
	} {
		for i := range v.NumField() {
			t.Run(name+"."+v.Type().Field(i).Name, func(t *testing.T) {
				before := leaf(e)
				was := reflect.New(v.Field(i).Type()).Elem()
				was.Set(v.Field(i))
				v.Field(i).Set(another(t, v.Field(i)))
				if leaf(e) == before {
					t.Error("it is in no digest")
				}
				v.Field(i).Set(was)
			})
		}
	}
}

// another returns a value that differs from v.
func another(t *testing.T, v reflect.Value) reflect.Value {
	t.Helper()
	switch was := v.Interface().(type) {
	case string:
		return reflect.ValueOf(was + "x")
	case int:
		return reflect.ValueOf(was + 301)
	case bool:
		return reflect.ValueOf(!was)
	case time.Time:
		return reflect.ValueOf(time.UnixMilli(5))
	case registry.Status:
		return reflect.ValueOf(registry.Withdrawn)
	case []string:
		return reflect.ValueOf([]string{"urn:example:b"})
	case []registry.Target:
		return reflect.ValueOf([]registry.Target{{URI: "https://example.net/"}})
	default:
		t.Fatalf("a field of type %T", was)
		return v
	}
}

// The store has milliseconds: times that differ by less have one digest, that of what is read again.
func TestDigestHasMilliseconds(t *testing.T) {
	var h hasher
	written := registry.Entry{Changed: time.Unix(1, 5e8+300), Record: registry.Record{Since: time.Unix(1, 5e8)}}
	stored := registry.Entry{Changed: time.Unix(1, 5e8), Record: registry.Record{Since: time.Unix(1, 5e8)}}
	if h.leaf(&written, nil) != h.leaf(&stored, nil) {
		t.Error("the digest of the written entries is not that of the stored ones")
	}
}
