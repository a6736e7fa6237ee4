package registrytest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// resolved returns the count of a name in a period.
func resolved(name, period string, people, bots int64) registry.ResolutionCount {
	return registry.ResolutionCount{
		Name:  name,
		Count: registry.Count{Period: period, Tally: registry.Tally{People: people, Bots: bots}},
	}
}

// Counts are added, ranked, and merged into months.
func testResolved(t *testing.T, s registry.Store) {
	wanted := func(what string, got any, want string) {
		t.Helper()
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", what, got, want)
		}
	}
	always := registry.Days{From: "0000-00-00", To: "9999-99-99"}
	for range 2 {
		write(t, s, func(tx registry.WriteTx) error {
			return tx.AddResolutions([]registry.ResolutionCount{
				resolved("", "2031-05-01", 4, 0), resolved("a", "2031-05-01", 1, 2), resolved("a", "2031-05-02", 3, 0),
				resolved("b", "2031-05-02", 2, 9), resolved("c", "2030-04", 2, 1), resolved("c", "2030-04-30", 0, 1),
				resolved("c", "2030-05-01", 1, 1),
				resolved("ab", "2031-05-01", 2, 9),
			})
		})
	}
	read(t, s, func(tx registry.Tx) error {
		for _, c := range []struct {
			days    registry.Days
			name    string
			of, top string
			all     string
		}{
			{
				days: always, name: "a", of: "[{2031-05-01 {2 4}} {2031-05-02 {6 0}}]", top: "[{a {8 4}} {c {6 6}}]",
				all: "{22 46}",
			},
			{
				days: registry.Days{From: "2031-05-02", To: "2031-05-31"}, name: "a", of: "[{2031-05-02 {6 0}}]",
				top: "[{a {6 0}} {b {4 18}}]", all: "{10 18}",
			},
			{
				days: registry.Days{From: "2030-04-15", To: "2030-04-30"}, name: "c",
				of: "[{2030-04 {4 2}} {2030-04-30 {0 2}}]", top: "[{c {4 4}}]", all: "{4 4}",
			},
			{days: registry.Days{From: "2032-01-01", To: "2032-01-02"}, name: "c", of: "[]", top: "[]", all: "{0 0}"},
		} {
			counts, err := tx.ResolutionCounts(c.name, c.days)
			if err != nil {
				return err
			}
			top, sum, err := tx.MostResolved(c.days, 2)
			if err != nil {
				return err
			}
			wanted(fmt.Sprint(c.days), counts, c.of)
			wanted(fmt.Sprint(c.days), top, c.top)
			wanted(fmt.Sprint(c.days), sum, c.all)
		}
		return nil
	})
	write(t, s, func(tx registry.WriteTx) error { return tx.FoldResolutions([]string{"a", "c"}, "2031-05", "2031-06") })
	read(t, s, func(tx registry.Tx) error {
		a, err := tx.ResolutionCounts("a", always)
		if err != nil {
			return err
		}
		c, err := tx.ResolutionCounts("c", always)
		wanted("a, which has counts in the month", a, "[{2031-05-01 {2 4}} {2031-05-02 {6 0}}]")
		wanted("c, which has none", c, "[{2030-04 {4 4}} {2030-05 {2 2}}]")
		return err
	})
	const many = 110_000 // more than one page of the ranking
	counts := make([]registry.ResolutionCount, many)
	for i := range counts {
		counts[i] = resolved(fmt.Sprintf("many%06d", i), "2033-01-01", int64(i%10), 1)
	}
	counts[0].People, counts[many-1].People = 20, 30
	write(t, s, func(tx registry.WriteTx) error { return tx.AddResolutions(counts) })
	read(t, s, func(tx registry.Tx) error {
		top, sum, err := tx.MostResolved(registry.Days{From: "2033-01-01", To: "2033-01-01"}, 3)
		wanted("many names", top, "[{many109999 {30 1}} {many000000 {20 1}} {many000009 {9 1}}]")
		wanted("many names", sum, fmt.Sprintf("{%d %d}", many/10*45+20+21, many))
		return err
	})
	err := s.Write(t.Context(), func(tx registry.WriteTx) error {
		return tx.AddResolutions([]registry.ResolutionCount{resolved("a", "", 1, 1)})
	})
	if err == nil {
		t.Error("a count without period was written")
	}
}

// The health of targets is listed by name and state, and can be removed per target and per name.
func testHealth(t *testing.T, s registry.Store) {
	all := []registry.Health{
		{
			Name: "a", URI: "https://example.org/1", State: "suspect", Since: epoch, Checked: epoch, Failures: 1,
			Error: "404", Detail: []byte("{}"),
		},
		{
			Name: "a", URI: "https://example.org/2", State: "healthy", Moved: "https://example.com/",
			Detail: []byte(`{"status":308}`),
		},
		{Name: "ab", URI: "https://example.org/1", State: "suspect", Detail: []byte("{}")},
		{Name: "b", URI: "https://example.org/1", State: "unhealthy", Detail: []byte("{}")},
	}
	key := func(i int) registry.HealthKey { return registry.HealthKeyOf(all[i].Name, all[i].URI) }
	if key(1).Hash < key(0).Hash {
		all[0], all[1] = all[1], all[0]
	}
	write(t, s, func(tx registry.WriteTx) error {
		for _, h := range all {
			changed := h
			changed.State, changed.Failures = "inaccessible", 7
			if err := errors.Join(tx.PutHealth(changed), tx.PutHealth(h)); err != nil {
				return err
			}
		}
		return nil
	})
	of := func(indexes ...int) (some []registry.Health) {
		for _, i := range indexes {
			some = append(some, all[i])
		}
		return some
	}
	suspect := 0
	if all[1].State == "suspect" {
		suspect = 1
	}
	read(t, s, func(tx registry.Tx) error {
		for _, c := range []struct {
			prefix, state string
			after         registry.HealthKey
			limit         int
			want          []registry.Health
		}{
			{limit: 10, want: all},
			{limit: 2, want: of(0, 1)},
			{limit: 10, after: key(0), want: of(1, 2, 3)},
			{limit: 10, prefix: "a", after: key(1), want: of(2)},
			{limit: 10, prefix: "b", after: key(0), want: of(3)},
			{limit: 10, state: "suspect", want: of(suspect, 2)},
			{limit: 10, state: "suspect", prefix: "a", after: key(1), want: of(2)},
			{limit: 0},
		} {
			got, err := tx.Health(c.prefix, c.after, c.state, c.limit)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v: %+v, %v", c, got, err)
			}
		}
		got, err := tx.TargetHealth(key(1))
		none, err2 := tx.TargetHealth(registry.HealthKeyOf("a", "https://example.org/3"))
		if !reflect.DeepEqual(got, all[1]) || !reflect.DeepEqual(none, registry.Health{}) {
			t.Errorf("%+v and %+v", got, none)
		}
		return errors.Join(err, err2)
	})
	write(t, s, func(tx registry.WriteTx) error {
		return errors.Join(tx.RemoveHealth(key(2)), tx.RemoveNameHealth("a"))
	})
	read(t, s, func(tx registry.Tx) error {
		left, err := tx.Health("", registry.HealthKey{}, "", 10)
		if !reflect.DeepEqual(left, of(3)) {
			t.Errorf("left are %+v", left)
		}
		return err
	})
	err := s.Write(t.Context(), func(tx registry.WriteTx) error {
		return tx.PutHealth(registry.Health{Name: "a", State: "tired", Detail: []byte("{}")})
	})
	if err == nil {
		t.Error("a state that there is not was written")
	}
}

// tokenOf returns a token with all fields set.
func tokenOf(id string) registry.StoredToken {
	return registry.StoredToken{Token: registry.Token{
		ID: id, Name: "anna", Role: registry.Writer, Prefixes: []string{"urn:a:"},
		Actions: []registry.Action{registry.ActRead}, Note: "why", Created: epoch, By: "root",
		Expires: epoch.Add(time.Hour), Used: "2031-05-01",
	}, Hash: make([]byte, 32), Root: "0"}
}

// Tokens are stored unchanged, and the day of their last use never decreases.
func testTokens(t *testing.T, s registry.Store) {
	least := registry.StoredToken{Token: registry.Token{
		ID: "2", Name: "anna", Role: registry.Admin, Created: epoch,
		By: "root",
	}, Hash: make([]byte, 32)}
	write(t, s, func(tx registry.WriteTx) error {
		return errors.Join(tx.AddToken(least), tx.AddToken(tokenOf("1")), tx.AddToken(tokenOf("3")),
			tx.RemoveToken("3"),
			tx.SetTokenUsed("1", "2031-04-30"), tx.SetTokenUsed("2", "2031-05-03"), tx.SetTokenUsed("2", "2031-05-02"),
			tx.SetTokenUsed("4", "2031-05-02"))
	})
	least.Used = "2031-05-03"
	read(t, s, func(tx registry.Tx) error {
		all, err := tx.Tokens()
		if want := []registry.StoredToken{tokenOf("1"), least}; !reflect.DeepEqual(all, want) {
			t.Errorf("%+v, want %+v", all, want)
		}
		one, err2 := tx.Token("2")
		none, err3 := tx.Token("3\x00")
		if !reflect.DeepEqual(one, least) || none.ID != "" {
			t.Errorf("%+v and %+v", one, none)
		}
		return errors.Join(err, err2, err3)
	})
	for name, change := range map[string]func(*registry.StoredToken){
		"no role":            func(t *registry.StoredToken) { t.Role = 0 },
		"a short hash":       func(t *registry.StoredToken) { t.Hash = t.Hash[1:] },
		"expired at first":   func(t *registry.StoredToken) { t.Expires = epoch },
		"an ID there is":     func(t *registry.StoredToken) { t.ID = "1" },
		"no day of last use": func(t *registry.StoredToken) { t.Used = "today" },
	} {
		made := tokenOf("5")
		change(&made)
		if err := s.Write(t.Context(), func(tx registry.WriteTx) error { return tx.AddToken(made) }); err == nil {
			t.Errorf("with %s it was added", name)
		}
	}
}

// Counters and leases have the value that was set last.
func testCountersAndLeases(t *testing.T, s registry.Store) {
	held := registry.LeaseHolder{Holder: "b", Until: epoch}
	write(t, s, func(tx registry.WriteTx) error {
		return errors.Join(tx.SetMintCounter("a{counter}", 7), tx.SetMintCounter("a{counter}", 1<<64-1),
			tx.SetMintCounter("b{counter}", 1),
			tx.SetLease("x", registry.LeaseHolder{Holder: "a"}), tx.SetLease("x", held), tx.SetLease("y", held),
			tx.RemoveLease("y"))
	})
	read(t, s, func(tx registry.Tx) error {
		next, ok, err := tx.MintCounter("a{counter}")
		_, none, err2 := tx.MintCounter("a")
		x, err3 := tx.Lease("x")
		y, err4 := tx.Lease("y")
		if next != 1<<64-1 || !ok || none || x != held || y != (registry.LeaseHolder{}) {
			t.Errorf("%d, %v, %v, %+v, %+v", next, ok, none, x, y)
		}
		first, err5 := tx.MintPatterns("", 1)
		others, err6 := tx.MintPatterns("a{counter}", 10)
		if !slices.Equal(first, []string{"a{counter}"}) || !slices.Equal(others, []string{"b{counter}"}) {
			t.Errorf("%q, %q", first, others)
		}
		return errors.Join(err, err2, err3, err4, err5, err6)
	})
	if err := s.Write(t.Context(),
		func(tx registry.WriteTx) error { return tx.SetMintCounter("\x00", 1) }); !errors.Is(err, registry.ErrInvalid) {
		t.Errorf("a counter of a pattern with a NUL: %v", err)
	}
}
