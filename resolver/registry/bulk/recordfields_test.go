package bulk

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// wholeEntry has a value in every field.
func wholeEntry() registry.Entry {
	at := func(day int) time.Time { return time.Date(2031, 5, day, 1, 2, 3, 4_000_000, time.UTC) }
	return registry.Entry{
		Key: registry.Name("urn:example:a"), Seq: 7, Version: 300, Changed: at(9), By: "someone", Note: "why",
		Record: registry.Record{
			Status: registry.Withdrawn, Since: at(3), Reason: "reason", Successors: []string{"urn:example:b", "urn:example:c"}, Alias: "urn:example:d",
			Targets: []registry.Target{
				{URI: "https://a.example/", Type: "text/html", Language: "fi", Priority: -300, From: at(1), Until: at(2), Note: "mirror", Rel: "item", Title: "ä", Context: "FI"},
				{URI: "https://b.example/"},
			},
			Metadata: `{"title":"x"}`, Contact: "library@example.org", Redirect: 301, Authoritative: true, Sandbox: true,
		},
	}
}

func encoded(e registry.Entry) []byte { return appendEntry(nil, &e) }

// decoded returns what is decoded of an encoded entry, with its key and place.
func decoded(t *testing.T, e registry.Entry) registry.Entry {
	t.Helper()
	got := registry.Entry{Key: e.Key, Seq: e.Seq}
	if err := decodeEntry(&got, encoded(e)); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestEncoding(t *testing.T) {
	whole := wholeEntry()
	if got := decoded(t, whole); !reflect.DeepEqual(got, whole) {
		t.Errorf("decoded\n%+v, want\n%+v", got, whole)
	}
	// Each field alone.
	value := reflect.ValueOf(whole.Record)
	for i := range value.NumField() {
		e := registry.Entry{Version: 1, Changed: whole.Changed, Record: registry.Record{Since: whole.Changed}}
		t.Run(value.Type().Field(i).Name, func(t *testing.T) {
			reflect.ValueOf(&e.Record).Elem().Field(i).Set(filled(value.Field(i)))
			if got := decoded(t, e); !reflect.DeepEqual(got, e) {
				t.Errorf("decoded\n%+v, want\n%+v", got, e)
			}
		})
	}
}

// filled returns a value, or a text in place of none: one of a field that wholeEntry does not have.
func filled(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.String && v.Len() == 0 {
		return reflect.ValueOf("x").Convert(v.Type())
	}
	return v
}

// A usual entry of a library is small: its size is what tens of millions of names cost.
func TestEncodedSize(t *testing.T) {
	e := registry.Entry{
		Version: 1, Changed: time.Unix(1_900_000_000, 0), By: "import",
		Record: registry.Record{Targets: []registry.Target{{URI: "https://www.example.org/publications/000000000001"}}},
	}
	if n := len(encoded(e)) - len(e.By) - len(e.Targets[0].URI); n > 16 {
		t.Errorf("the encoding adds %d octets", n)
	}
}

// FuzzDecode: no octets crash, and those that are accepted mean the same when they are encoded again.
func FuzzDecode(f *testing.F) {
	f.Add(encoded(wholeEntry()))
	f.Add(encoded(registry.Entry{Version: 1}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, octets []byte) {
		var e registry.Entry
		if err := decodeEntry(&e, octets); err != nil {
			if !errors.Is(err, errSorted) {
				t.Errorf("the error is %v", err)
			}
			return
		}
		if got := decoded(t, e); !reflect.DeepEqual(got, e) {
			t.Errorf("decoded again\n%#v, want\n%#v", got, e)
		}
	})
}

// What is cut off or changed is never taken for the whole, nor does it crash.
func TestDamaged(t *testing.T) {
	octets := encoded(wholeEntry())
	random := rand.New(rand.NewPCG(1, 2))
	for n := range octets {
		var e registry.Entry
		if err := decodeEntry(&e, octets[:n]); !errors.Is(err, errSorted) {
			t.Errorf("the first %d of %d octets: %v", n, len(octets), err)
		}
		changed := append([]byte(nil), octets...)
		changed[n] = byte(random.IntN(256))
		_ = decodeEntry(&e, changed) // it must return
	}
}
