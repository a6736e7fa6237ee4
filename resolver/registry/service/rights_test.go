package service_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/health"
	"github.com/urnd/urnd/resolver/registry/jobs"
	"github.com/urnd/urnd/resolver/registry/lint"
	"github.com/urnd/urnd/resolver/registry/mint"
	"github.com/urnd/urnd/resolver/registry/service"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/resolver/registry/token"
	"github.com/urnd/urnd/urnns"
)

const name, prefix = "urn:nbn:fi:a", "urn:nbn:fi:"

func root() registry.Actor {
	return registry.Actor{Name: registry.AdministratorName, Role: registry.Admin}
}

// newService returns a service with a single name, which has one version.
func newService(t *testing.T, change func(*service.Config)) *service.Service {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	names := resolver.Names{Set: set}
	c := service.Config{Registry: registry.New(registry.Config{
		Store: store, Now: time.Now, CanonicalPrefix: names.CanonicalPrefix,
		Canonical: func(text string) (string, error) {
			q, err := resolver.ParseQuery(text, resolver.I2L)
			if err == nil {
				q, err = names.Canonical(q)
			}
			return q.URI.String(), err
		},
	})}
	if change != nil {
		change(&c)
	}
	s := service.New(c)
	if _, err := s.Change(t.Context(), root(), false, put(name, registry.AnyVersion)); err != nil {
		t.Fatal(err)
	}
	return s
}

// put returns an edit that changes the target of a name.
func put(name string, ifVersion int) registry.Edit {
	return registry.Edit{
		Key: registry.Name(name), IfVersion: ifVersion,
		Change: func(before registry.Entry) (registry.Record, error) {
			return registry.Record{Targets: []registry.Target{{URI: fmt.Sprintf("https://a.example/%d",
				before.Version+1)}}}, nil
		},
	}
}

// method is a method of a service with the permissions that it requires.
type method struct {
	name    string
	role    registry.Role
	actions []registry.Action
	scope   scope
	call    func(ctx context.Context, s *service.Service, a registry.Actor) error
}

// scope describes how the prefixes of a token restrict a call.
type scope int

const (
	nothing scope = iota // no restriction
	own                  // the names of the call must begin with one of the prefixes
	all                  // the call concerns all names: a token with prefixes is denied
)

func methods() []method {
	read, change, withdraw := []registry.Action{registry.ActRead}, []registry.Action{registry.ActChange},
		[]registry.Action{registry.ActWithdraw}
	imports, tokens, mints := []registry.Action{registry.ActImport}, []registry.Action{registry.ActTokens},
		[]registry.Action{registry.ActMint}
	both := []registry.Action{registry.ActChange, registry.ActWithdraw}
	withdrawing := func(kind registry.Kind) registry.Edit {
		key := registry.Name(name)
		if kind == registry.KindPrefix {
			key = registry.Prefix(prefix)
		}
		return registry.Edit{
			Key: key, IfVersion: registry.AnyVersion,
			Change: func(registry.Entry) (registry.Record, error) {
				return registry.Record{Status: registry.Withdrawn, Reason: "r"}, nil
			},
		}
	}
	edit := registry.Edit{
		Key: registry.Prefix(prefix), IfVersion: registry.AnyVersion,
		Change: registry.Put(registry.Record{}),
	}
	below := registry.Search{Prefix: prefix}
	return []method{
		{"Get", registry.Reader, read, own, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, err := s.Get(ctx, a, registry.Name(name), service.Version{})
			return err
		}},
		{
			"Get version", registry.Reader, read, own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Get(ctx, a, registry.Name(name), service.Version{Number: 1})
				return err
			},
		},
		{"List", registry.Reader, read, own, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, err := s.List(ctx, a, below, service.Page{})
			return err
		}},
		{"List all", registry.Reader, read, all, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, err := s.List(ctx, a, registry.Search{Text: "a"}, service.Page{})
			return err
		}},
		{
			"List aliases", registry.Reader, read, all,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.List(ctx, a, registry.Search{AliasOf: name}, service.Page{})
				return err
			},
		},
		{"Search", registry.Reader, read, own, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, err := s.Search(ctx, a, below, func(registry.Entry) error { return nil })
			return err
		}},
		{"History", registry.Reader, read, own, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, err := s.History(ctx, a, registry.Name(name), service.Page{})
			return err
		}},
		{"Export", registry.Reader, read, own, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			e, err := s.Export(ctx, a, below, bulk.CSV)
			if err == nil {
				e.Close()
			}
			return err
		}},
		{
			"ExportAll", registry.Reader, read, own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				return s.ExportAll(ctx, a, io.Discard, bulk.ExportOptions{Prefix: prefix})
			},
		},
		{
			"ChangesOf", registry.Reader, read, own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				return s.ChangesInSet(ctx, a, 1, prefix, func(registry.Changed) bool { return true })
			},
		},
		{"Targets", registry.Reader, read, own, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			return s.Targets(ctx, a, prefix, true, func(health.Target) error { return nil })
		}},
		{
			"CheckTargets", registry.Reader, read, own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				return s.CheckTargets(ctx, a, health.Config{Now: time.Now}, prefix+"none:",
					func(health.Target) error { return nil })
			},
		},
		{"Check", registry.Reader, read, own, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, err := s.Check(ctx, a, lint.Config{}, prefix+"none:", func(lint.Finding) error { return nil })
			return err
		}},
		{"Head", registry.Reader, read, all, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, err := s.Head(ctx, a)
			return err
		}},
		{"Verify", registry.Reader, read, all, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			return s.Verify(ctx, a, func(string) {}, func(registry.Seq, registry.Seq) {})
		}},
		{
			"ChangeSets", registry.Reader, read, own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.ChangeSets(ctx, a, service.ChangeFilter{Prefix: prefix}, service.Page{})
				return err
			},
		},
		{
			"ChangeSet", registry.Reader, read, own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.ChangeSet(ctx, a, 1, prefix)
				return err
			},
		},
		{
			"ChangeSet of all", registry.Reader, read, all,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.ChangeSet(ctx, a, 1, "")
				return err
			},
		},
		{"Events", registry.Reader, read, own, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, err := s.Events(ctx, a, 1, prefix, service.Page{})
			return err
		}},
		{
			"Events of all", registry.Reader, read, all,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Events(ctx, a, 0, "", service.Page{})
				return err
			},
		},
		{"Totals", registry.Reader, read, own, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, err := s.Totals(ctx, a, below)
			return err
		}},
		{
			"Totals of all", registry.Reader, read, all,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Totals(ctx, a, registry.Search{})
				return err
			},
		},
		{"Counts", registry.Reader, read, own, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, _, err := s.Counts(ctx, a, registry.Name(name), time.Time{}, time.Time{})
			return err
		}},
		{
			"Counts of all", registry.Reader, read, all,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, _, err := s.Counts(ctx, a, registry.Key{}, time.Time{}, time.Time{})
				return err
			},
		},
		{
			"TopCounts", registry.Reader, read, all,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, _, err := s.TopCounts(ctx, a, time.Time{}, time.Time{}, 1)
				return err
			},
		},
		{"Health", registry.Reader, read, own, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, _, err := s.Health(ctx, a, prefix, "", service.Page{})
			return err
		}},
		{"Change", registry.Writer, change, own, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, err := s.Change(ctx, a, false, put(name, registry.AnyVersion))
			return err
		}},
		{
			"Change prefix", registry.Admin, change, own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Change(ctx, a, true, edit)
				return err
			},
		},
		{
			"Change that withdraws", registry.Writer, both, own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Change(ctx, a, true, withdrawing(registry.KindName))
				return err
			},
		},
		{
			"Withdraw", registry.Writer, withdraw, own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Withdraw(ctx, a, true, withdrawing(registry.KindName))
				return err
			},
		},
		{
			"Withdraw prefix", registry.Admin, withdraw, own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Withdraw(ctx, a, true, withdrawing(registry.KindPrefix))
				return err
			},
		},
		{
			"Supersede", registry.Writer, withdraw, own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Supersede(ctx, a, true,
					service.Superseding{Names: []string{name}, Successors: []string{prefix + "b"}, Note: "n"})
				return err
			},
		},
		{"Mint", registry.Writer, mints, own, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, err := s.Mint(ctx, a, mint.Request{Pattern: prefix + "m-{counter}", Count: 1})
			return err
		}},
		{
			"PreviewMint", registry.Writer, mints, own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.PreviewMint(ctx, a, mint.Request{Pattern: prefix + "m-{counter}", Count: 1})
				return err
			},
		},
		{
			"Rewrite", registry.Writer, imports, own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Rewrite(ctx, a,
					registry.Rewrite{
						Prefix: prefix, Replace: "http://b.example/", With: "https://b.example/",
						DryRun: true,
					})
				return err
			},
		},
		{
			"Redact", registry.Admin,
			[]registry.Action{registry.ActPurge},
			own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Redact(ctx, a, registry.Name(name), []int{1}, "r")
				return err
			},
		},
		{
			"PreviewRedact", registry.Admin,
			[]registry.Action{registry.ActPurge},
			own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.PreviewRedact(ctx, a, registry.Name(name), []int{1}, "r")
				return err
			},
		},
		{
			"Import", registry.Writer, imports, nothing,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Import(ctx, a, bulk.Import{Format: bulk.CSV}, strings.NewReader("name\n"))
				return err
			},
		},
		{
			"Purge", registry.Admin,
			[]registry.Action{registry.ActPurge},
			own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Purge(ctx, a, prefix, "")
				return err
			},
		},
		{
			"PreviewPurge", registry.Admin,
			[]registry.Action{registry.ActPurge},
			own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				return s.PreviewPurge(ctx, a, prefix, func(registry.Entry) error { return nil })
			},
		},
		{"Revert", registry.Admin, both, all, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, err := s.Revert(ctx, a, registry.Revert{Set: 1, Note: "n", DryRun: true})
			return err
		}},
		{
			"Accept", registry.Writer, imports, nothing,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Accept(ctx, a, jobs.Upload{Format: bulk.CSV, Body: strings.NewReader("name\n")})
				return err
			},
		},
		{
			"Cancel", registry.Writer, imports, nothing,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Cancel(ctx, a, "none")
				return err
			},
		},
		{
			"LastSeq", registry.Writer, imports, nothing,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.LastSeq(ctx, a)
				return err
			},
		},
		{"Jobs", registry.Reader, read, nothing, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, err := s.Jobs(ctx, a)
			return err
		}},
		{"Job", registry.Reader, read, nothing, func(ctx context.Context, s *service.Service, a registry.Actor) error {
			_, err := s.Job(ctx, a, "none")
			return err
		}},
		{
			"Rejected", registry.Reader, read, nothing,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Rejected(ctx, a, "none")
				return err
			},
		},
		{
			"Differences", registry.Reader, read, nothing,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.Differences(ctx, a, "none")
				return err
			},
		},
		{
			"Tokens", registry.Admin, tokens, nothing,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, _, err := s.Tokens(ctx, a)
				return err
			},
		},
		{
			"CreateToken", registry.Admin, tokens, own,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, _, err := s.CreateToken(ctx, a, token.Token{
					Name: a.Name, Role: registry.Reader, Prefixes: []string{prefix}, Actions: tokens,
				})
				return err
			},
		},
		{
			"RevokeToken", registry.Admin, tokens, nothing,
			func(ctx context.Context, s *service.Service, a registry.Actor) error {
				_, err := s.RevokeToken(ctx, a, "none")
				return err
			},
		},
	}
}

// Each method is called with each role, and with tokens for other names and actions.
func TestRights(t *testing.T) {
	s := newService(t, func(c *service.Config) {
		c.Jobs = jobs.New(jobs.Config{
			Registry: c.Registry, Directory: t.TempDir(), MaxBody: 1000,
			Log: slog.New(slog.DiscardHandler),
		})
	})
	n := 0
	for _, m := range methods() {
		others := slices.DeleteFunc(registry.Actions(),
			func(a registry.Action) bool { return slices.Contains(m.actions, a) })
		sets := [][]registry.Action{nil, m.actions, others}
		for _, one := range m.actions {
			sets = append(sets, append([]registry.Action{one}, others...)) // all but the other required actions
		}
		for role := registry.Role(0); role <= registry.Admin; role++ {
			for _, actions := range sets {
				for prefixes, fit := range map[string]bool{
					"": true, prefix: m.scope != all,
					name + " " + prefix: m.scope != all, "urn:nbn:se:": m.scope == nothing,
				} {
					n++
					a := registry.Actor{
						Name: fmt.Sprint("actor ", n), Role: role, Actions: actions,
						Token: fmt.Sprint(n),
					}
					if prefixes != "" {
						a.Prefixes = strings.Fields(prefixes)
					}
					does := !slices.ContainsFunc(m.actions,
						func(one registry.Action) bool { return a.CheckAction(one) != nil })
					may := role >= m.role && does && fit
					if err := m.call(t.Context(), s, a); errors.Is(err, registry.ErrDenied) == may {
						t.Errorf("%s by a %q for %q and %v: %v; want that it is permitted: %t", m.name, role, prefixes,
							actions, err, may)
					}
				}
			}
		}
	}
}

// A use without a particular name is permitted like one for all names, except that prefixes of the token are
// ignored.
func TestUse(t *testing.T) {
	for _, tt := range []struct {
		use    service.Permission
		kind   registry.Kind
		role   registry.Role
		action registry.Action // "" requires none
	}{
		{service.ToVisit, registry.KindName, registry.Reader, ""},
		{service.ToRead, registry.KindName, registry.Reader, registry.ActRead},
		{service.ToChange, registry.KindName, registry.Writer, registry.ActChange},
		{service.ToChange, registry.KindPrefix, registry.Admin, registry.ActChange},
		{service.ToWithdraw, registry.KindName, registry.Writer, registry.ActWithdraw},
		{service.ToWithdraw, registry.KindPrefix, registry.Admin, registry.ActWithdraw},
		{service.ToMint, registry.KindName, registry.Writer, registry.ActMint},
		{service.ToImport, registry.KindName, registry.Writer, registry.ActImport},
		{service.ToPurge, registry.KindPrefix, registry.Admin, registry.ActPurge},
		{service.ToRevert, registry.KindName, registry.Admin, registry.ActChange},
		{service.ToRedact, registry.KindName, registry.Admin, registry.ActPurge},
		{service.ToManageTokens, registry.KindName, registry.Admin, registry.ActTokens},
	} {
		for role := registry.Role(0); role <= registry.Admin; role++ {
			for _, action := range registry.Actions() {
				a := registry.Actor{
					Name: "a", Role: role, Actions: []registry.Action{action},
					Prefixes: []string{prefix},
				}
				may := role >= tt.role && (tt.action == "" || action == tt.action)
				key := registry.Key{Kind: tt.kind, Name: prefix}
				for what, err := range map[string]error{
					"Check":    tt.use.Check(a, tt.kind),
					"CheckKey": tt.use.CheckKey(a, key),
				} {
					if (err == nil) != may || err != nil && !errors.Is(err, registry.ErrDenied) {
						t.Errorf("%s of use %d of kind %d by a %q that may %s: %v", what, tt.use, tt.kind, role,
							action, err)
					}
				}
				if tt.use.CheckAll(a) == nil {
					t.Errorf("use %d of all names is permitted to a token for some", tt.use)
				}
			}
		}
	}
}
