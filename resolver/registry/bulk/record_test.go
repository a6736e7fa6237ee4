package bulk

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// fullLine returns a line with a value in every field.
func fullLine() line {
	at := func(day int) time.Time { return time.Date(2031, 5, day, 1, 2, 3, 4_000_000, time.UTC) }
	return line{number: 5, fields: 1<<fieldSince | 1<<fieldTargets, ifVersion: 3, source: "a", entry: registry.Entry{
		Key: registry.Name("urn:example:a"), Version: 300, Changed: at(9), By: "someone", Note: "why",
		Record: registry.Record{
			Status: registry.Withdrawn, Since: at(3), Reason: "reason",
			Successors: []string{"urn:example:b", "urn:example:c"}, Alias: "urn:example:d",
			Targets: []registry.Target{
				{
					URI: "https://a.example/", Type: "text/html", Language: "fi", Priority: -300, From: at(1),
					Until: at(2), Note: "mirror", Rel: "item", Title: " ä ", Context: "FI",
				},
				{URI: "https://b.example/"},
			},
			Metadata: `{"title":"x"}`, Contact: "library@example.org", Redirect: 301, Pattern: "[0-9]+",
			Authoritative: true, Sandbox: true,
		},
	}}
}

func TestRecord(t *testing.T) {
	check := func(t *testing.T, want line) {
		t.Helper()
		if got, err := lineOf(appendRecord(nil, &want)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("read\n%+v, %v, want\n%+v", got, err, want)
		}
	}
	whole := fullLine()
	check(t, whole)
	// Each field alone.
	value := reflect.ValueOf(whole.entry.Record)
	for i := range value.NumField() {
		t.Run(value.Type().Field(i).Name, func(t *testing.T) {
			l := line{number: 1, entry: registry.Entry{Key: whole.entry.Key}}
			if value.Field(i).IsZero() {
				t.Fatal("it has no value here")
			}
			reflect.ValueOf(&l.entry.Record).Elem().Field(i).Set(value.Field(i))
			check(t, l)
		})
	}
}

// The record of a typical library line is small: its size matters for tens of millions of names.
func TestRecordSize(t *testing.T) {
	l := line{number: 1, entry: registry.Entry{
		Key: registry.Name("urn:example:a"), By: "import",
		Record: registry.Record{Targets: []registry.Target{{URI: "https://www.example.org/publications/000000000001"}}},
	}}
	if n := len(appendRecord(nil, &l)) - len(l.entry.Name) - len(l.entry.By) - len(l.entry.Targets[0].URI); n > 45 {
		t.Errorf("a record adds %d bytes", n)
	}
}

// FuzzFields checks that decoding any bytes does not panic, and that accepted bytes survive another round
// trip.
func FuzzFields(f *testing.F) {
	whole := fullLine()
	f.Add(field.RecordFields().AppendBinary(nil, &whole.entry.Record))
	f.Add(field.RecordFields().AppendBinary(nil, &registry.Record{}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var r, again registry.Record
		if _, err := field.RecordFields().SetBinary(&r, string(b)); err != nil {
			if !errors.Is(err, field.ErrBinary) {
				t.Errorf("the error is %v", err)
			}
			return
		}
		if rest, err := field.RecordFields().SetBinary(&again,
			string(field.RecordFields().AppendBinary(nil, &r))); err != nil || rest != "" || !again.Equal(&r) {
			t.Errorf("decoded again\n%#v, %q, %v, want\n%#v", again, rest, err, r)
		}
	})
}

// Truncated records are never accepted, and damaged ones do not panic.
func TestDamaged(t *testing.T) {
	whole := fullLine()
	record := appendRecord(nil, &whole)
	random := rand.New(rand.NewPCG(1, 2))
	for n := len(orderOf(record)); n < len(record); n++ {
		if _, err := lineOf(record[:n]); !errors.Is(err, field.ErrBinary) {
			t.Errorf("the first %d of %d bytes: %v", n, len(record), err)
		}
		changed := append([]byte(nil), record...)
		changed[n] = byte(random.IntN(256))
		_, _ = lineOf(changed) // must return
	}
}
