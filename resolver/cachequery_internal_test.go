package resolver

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/urnd/urnd/uri"
)

// A load sees everything that the key of its answer depends on. Otherwise the entry would be wrong for other
// queries.
func TestLoadQueryHasAllKeyFields(t *testing.T) {
	parse := func(text string) uri.URI {
		u, err := uri.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	values := map[string]any{
		"URI": parse("ark:/12345/x1"), "Service": I2C, "Spelling": parse("ark:/12345/x-1"), "ResolutionParams": "?+r",
		"Hops": uint8(1), "URN": uri.URN{}, "At": time.Unix(1, 0), "Client": netip.MustParseAddr("192.0.2.1"),
		"NamesOnly": true,
		"QuotaErr":  ErrBusy,
	}
	plain := Query{URI: parse("ark:/12345/x")}
	for field := range reflect.TypeFor[Query]().Fields() {
		value, ok := values[field.Name]
		if !ok {
			t.Errorf("%s: test value missing", field.Name)
			continue
		}
		q := plain
		reflect.ValueOf(&q).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(value))
		if requested := cacheQueryOf(&q).query(); requested.Key() != q.Key() {
			t.Errorf("%s: load query %q for the key %q", field.Name, requested.Key(), q.Key())
		}
	}
}
