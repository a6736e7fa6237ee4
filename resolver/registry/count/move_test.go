package count_test

import (
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/count"
)

// Counts follow a name to another one, where they are added to those that there are.
func TestMove(t *testing.T) {
	s := stores(t)()
	err := s.Write(t.Context(), func(tx registry.WriteTx) error {
		err := tx.Put(registry.TableCounts, []registry.Document{
			{Key: "a 2031-05-01", Value: []byte("1 2")},
			{Key: "a 2031-05-02", Value: []byte("3 0")},
			{Key: "b 2031-05-02", Value: []byte("4 5")},
			{Key: "a-1 2031-05-02", Value: []byte("9 9")},
		})
		if err != nil {
			return err
		}
		return count.Move(tx, "a", "b")
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]count.Count{
		"a": nil, "a-1": {{Period: "2031-05-02", Tally: count.Tally{People: 9, Bots: 9}}},
		"b": {{Period: "2031-05-01", Tally: count.Tally{People: 1, Bots: 2}}, {Period: "2031-05-02", Tally: count.Tally{People: 7, Bots: 5}}},
	} {
		err := s.Read(t.Context(), func(tx registry.Tx) error {
			got, err := count.Of(tx, name, time.Time{}, time.Time{})
			if len(got) != len(want) {
				t.Errorf("%s: %v, want %v", name, got, want)
				return err
			}
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("%s: %v, want %v", name, got, want)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
