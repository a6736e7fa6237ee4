package service_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/health"
	"github.com/urnd/urnd/resolver/registry/jobs"
	"github.com/urnd/urnd/resolver/registry/service"
	"github.com/urnd/urnd/resolver/registry/token"
)

// A change is made, or previewed, only if the expected version is current. Conflicts are reported.
func TestConditions(t *testing.T) {
	conflicts := 0
	s := newService(t, func(c *service.Config) { c.Conflict = func() { conflicts++ } })
	for _, tt := range []struct {
		name    string
		version int
		dry     bool
		before  int // expected versions of the result
		after   int
		err     error
	}{
		{name, 0, false, 0, 0, registry.ErrConflict},
		{name, 2, true, 0, 0, registry.ErrConflict},
		{name, 1, true, 1, 2, nil},
		{name, 1, false, 1, 2, nil},
		{name, 1, false, 0, 0, registry.ErrConflict},
		{"URN:nbn:FI:a", registry.AnyVersion, false, 2, 3, nil},
		{prefix + "new", 0, true, 0, 1, nil},
		{prefix + "new", 0, false, 0, 1, nil},
	} {
		changed, err := s.Change(t.Context(), root(), tt.dry, put(tt.name, tt.version))
		if !errors.Is(err, tt.err) {
			t.Fatalf("%+v: %v", tt, err)
		}
		if err == nil && (changed[0].Before.Version != tt.before || changed[0].After.Version != tt.after ||
			(changed[0].After.Seq == 0) != tt.dry) {
			t.Errorf("%+v: %+v", tt, changed)
		}
	}
	if conflicts != 3 {
		t.Errorf("%d conflicts were counted, want 3", conflicts)
	}
}

// An edit that changes nothing returns the current entry. Several edits are made all or none.
func TestChangeOfSeveral(t *testing.T) {
	s := newService(t, nil)
	same := registry.Edit{
		Key: registry.Name(name), IfVersion: registry.AnyVersion,
		Change: func(e registry.Entry) (registry.Record, error) {
			return e.Record, nil
		},
	}
	for _, dry := range []bool{true, false} {
		changed, err := s.Change(t.Context(), root(), dry, same, put(prefix+"b", 0))
		if err != nil || changed[0].Before.Version != 1 || changed[0].After.Version != 1 ||
			changed[1].After.Version != 1 || changed[1].Before.Exists() {
			t.Fatalf("dry %t: %+v, %v", dry, changed, err)
		}
	}
	if _, err := s.Change(t.Context(), root(), false, put(name, registry.AnyVersion),
		put(prefix+"b", 0)); !errors.Is(err, registry.ErrConflict) {
		t.Error(err)
	}
	if e, err := s.Get(t.Context(), root(), registry.Name(name), service.Version{}); err != nil || e.Version != 1 {
		t.Errorf("version %d, %v", e.Version, err)
	}
}

// The limits for requests do not apply to commands.
func TestBounds(t *testing.T) {
	old := make([]string, 1001)
	for i := range old {
		old[i] = fmt.Sprintf("%sold-%d", prefix, i)
	}
	of := service.Superseding{Names: old, Successors: []string{name}, Reason: "r", Note: "n"}
	s := newService(t, nil)
	if _, err := s.Supersede(t.Context(), root(), true, of); !errors.Is(err, registry.ErrInvalid) {
		t.Errorf("too many names: %v", err)
	}
	if _, err := s.Revert(t.Context(), root(), registry.Revert{Note: "n"}); !errors.Is(err, registry.ErrInvalid) {
		t.Errorf("no change set: %v", err)
	}
	s = newService(t, func(c *service.Config) { c.Unbounded = true })
	// None is registered.
	if _, err := s.Supersede(t.Context(), root(), true, of); !errors.Is(err, registry.ErrUnknown) {
		t.Errorf("many names by a command: %v", err)
	}
}

// A list is read in pages. Its cursors are valid for that list only.
func TestPages(t *testing.T) {
	s := newService(t, nil)
	var edits []registry.Edit
	for i := range 5 {
		edits = append(edits, put(fmt.Sprintf("%sp-%d", prefix, i), 0))
	}
	if _, err := s.Change(t.Context(), root(), false, edits...); err != nil {
		t.Fatal(err)
	}
	for _, search := range []registry.Search{{Prefix: prefix + "p-"}, {Text: "FI:P-"}} {
		var names []string
		for page := (service.Page{Limit: 2}); ; {
			found, err := s.List(t.Context(), root(), search, page)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range found.Entries {
				names = append(names, strings.TrimPrefix(e.Name, prefix+"p-"))
			}
			if page.Cursor = found.Next; found.Next == "" {
				break
			}
		}
		if got := strings.Join(names, ""); got != "01234" {
			t.Errorf("%+v: %s", search, got)
		}
	}
	lists := map[string]func(ctx context.Context, p service.Page) error{
		"List": func(ctx context.Context, p service.Page) error {
			_, err := s.List(ctx, root(), registry.Search{}, p)
			return err
		},
		"History": func(ctx context.Context, p service.Page) error {
			_, err := s.History(ctx, root(), registry.Name(name), p)
			return err
		},
		"ChangeSets": func(ctx context.Context, p service.Page) error {
			_, err := s.ChangeSets(ctx, root(), service.ChangeFilter{}, p)
			return err
		},
		"Events": func(ctx context.Context, p service.Page) error {
			_, err := s.Events(ctx, root(), 0, "", p)
			return err
		},
		"Health": func(ctx context.Context, p service.Page) error {
			_, _, err := s.Health(ctx, root(), "", "", p)
			return err
		},
	}
	other := newService(t, nil)
	edit := registry.Edit{
		Key: registry.Name(name), IfVersion: registry.AnyVersion,
		Change: registry.Put(registry.Record{Contact: "anna", Targets: []registry.Target{{URI: "https://a.example/"}}}),
	}
	if _, err := other.Change(t.Context(), root(), false, edit); err != nil {
		t.Fatal(err)
	}
	elsewhere, err := other.Events(t.Context(), root(), 0, "", service.Page{})
	if err != nil {
		t.Fatal(err)
	}
	for what, list := range lists {
		for _, limit := range []int{-1, service.MaxPage + 1} {
			if err := list(t.Context(), service.Page{Limit: limit}); !errors.Is(err, registry.ErrInvalidParameters) {
				t.Errorf("%s with the limit %d: %v", what, limit, err)
			}
		}
		if err := list(t.Context(), service.Page{Cursor: "%"}); !errors.Is(err, registry.ErrInvalidCursor) {
			t.Errorf("%s with a wrong cursor: %v", what, err)
		}
		hasNumbers := what != "List" && what != "Health"
		// The cursor decodes to "x".
		if err := list(t.Context(), service.Page{Cursor: "eA"}); errors.Is(err,
			registry.ErrInvalidCursor) != hasNumbers {
			t.Errorf("%s with the cursor of a text: %v", what, err)
		}
		// The cursor of a registry that was restored since, or of another one, is rejected as such.
		if err := list(t.Context(), service.Page{Cursor: elsewhere.Next}); errors.Is(err,
			registry.ErrForeignCursor) != hasNumbers {
			t.Errorf("%s with the cursor of another registry: %v", what, err)
		}
	}
}

// Without a directory there are no jobs; an actor without permission gets ErrDenied instead.
func TestWithoutJobs(t *testing.T) {
	s := newService(t, nil)
	if _, err := s.Accept(t.Context(), root(), jobs.Upload{}); !errors.Is(err, registry.ErrJobsDisabled) ||
		s.HasJobs() {
		t.Errorf("%v, jobs: %t", err, s.HasJobs())
	}
	if _, err := s.Accept(t.Context(), registry.Actor{Role: registry.Reader}, jobs.Upload{}); !errors.Is(err,
		registry.ErrDenied) {
		t.Error(err)
	}
}

// The callbacks are called for created and revoked tokens, and only for these.
func TestTokens(t *testing.T) {
	var told []string
	s := newService(t, func(c *service.Config) {
		c.Created = func(_ context.Context, a registry.Actor, made token.Token) {
			told = append(told, a.Name+" created "+made.Name)
		}
		c.Revoked = func(_ context.Context, a registry.Actor, gone token.Token) {
			told = append(told, a.Name+" revoked "+gone.Name)
		}
	})
	made, secret, err := s.CreateToken(t.Context(), root(), token.Token{Name: "anna", Role: registry.Reader})
	if err != nil {
		t.Fatal(err)
	}
	actor, err := s.Authenticate(t.Context(), secret, false)
	if err != nil || actor.Name != "anna" {
		t.Errorf("%+v, %v", actor, err)
	}
	if _, _, err := s.CreateToken(t.Context(), actor, token.Token{Name: "ben", Role: registry.Reader}); !errors.Is(err,
		registry.ErrDenied) {
		t.Error(err)
	}
	for range 2 { // the second time it no longer exists
		_, err = s.RevokeToken(t.Context(), root(), made.ID)
	}
	if got := strings.Join(told, ", "); got != "admin created anna, admin revoked anna" ||
		!errors.Is(err, token.ErrUnknown) {
		t.Errorf("%s; %v", got, err)
	}
}

// A redaction removes the health of the targets of a name, and the counts of unhealthy targets do not include it any
// more.
func TestHealthAfterRedaction(t *testing.T) {
	var store registry.Store
	s := newService(t, func(c *service.Config) { store = c.Registry.Store() })
	if _, err := s.Change(t.Context(), root(), false, put(name, 1)); err != nil {
		t.Fatal(err)
	}
	if err := store.Write(t.Context(), func(tx registry.WriteTx) error {
		for _, of := range []string{name, name + "b"} {
			if err := tx.PutHealth(registry.Health{
				Name: of, URI: "https://a.example/", State: string(health.Unhealthy), Detail: []byte("{}"),
			}); err != nil {
				return err
			}
		}
		return tx.Put(registry.TableMarks,
			[]registry.Document{{Key: "sweep", Value: []byte(`{"states":{"unhealthy":2},"revision":4}`)}})
	}); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Redact(t.Context(), root(), registry.Name(name), []int{1}, "asked for"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	sweep, err := s.Sweep(t.Context())
	if err != nil || sweep.States[health.Unhealthy] != 1 || sweep.Revision != 5 {
		t.Errorf("the sweep is %+v, %v", sweep, err)
	}
	found, _, err := s.Health(t.Context(), root(), "", "", service.Page{})
	if err != nil || len(found) != 1 || found[0].Name != name+"b" {
		t.Errorf("the health is %+v, %v", found, err)
	}
}
