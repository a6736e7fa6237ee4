package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/postgres"
)

// A read-only database is readable, and reports the reason, until it becomes writable; if the URL permits a
// read-only server, there is no error.
func TestUnwritable(t *testing.T) {
	server := testserver.StartPostgres(t)
	i := connect(t, server.URL(""))
	i.set(t, "urn:example:a", "https://a.example/1")
	if err := i.store.ReadOnlyErr(); err != nil {
		t.Errorf("it accepts changes: %v", err)
	}
	server.Query("", "CREATE ROLE reader LOGIN")
	server.Query("", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
	server.Query("", "CREATE ROLE standing LOGIN SUPERUSER")
	server.Query("", "ALTER ROLE standing SET default_transaction_read_only = on")
	standby := server.StartStandby()
	catchUp(t, standby, server)
	as := func(role string) string { return strings.Replace(server.URL(""), "postgres@", role+"@", 1) }
	for _, tt := range []struct{ url, message, mend string }{
		{as("reader"), "may not change the tables", "GRANT ALL ON ALL TABLES IN SCHEMA public TO reader"},
		{
			as("standing"), "default_transaction_read_only is on",
			"ALTER ROLE standing RESET default_transaction_read_only",
		},
		{standby.URL(""), "server is a standby", ""},
	} {
		s, any := open(t, tt.url), open(t, tt.url+"&target_session_attrs=any")
		for _, store := range []registry.Store{s, any} {
			if e, err := store.Lookup(t.Context(), registry.Name("urn:example:a")); err != nil || !e.Exists() {
				t.Errorf("%s: looking up: %v", tt.message, err)
			}
		}
		if err := s.ReadOnlyErr(); !errors.Is(err, registry.ErrReadOnly) || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%s: %v", tt.message, err)
		}
		if err := any.ReadOnlyErr(); err != nil {
			t.Errorf("%s: by its URL it is well, and: %v", tt.message, err)
		}
		s.RecheckWritable(t.Context())
		if s.ReadOnlyErr() == nil {
			t.Errorf("%s: it accepts changes", tt.message)
		}
		if tt.mend == "" {
			standby.Promote()
		} else {
			server.Query("", tt.mend)
		}
		s.RecheckWritable(t.Context())
		if err := s.ReadOnlyErr(); err != nil {
			t.Errorf("%s: %v, and it is mended", tt.message, err)
		}
		if err := s.Write(t.Context(), func(tx registry.WriteTx) error {
			return tx.Put(registry.TableMarks, []registry.Document{{Key: "urn:example:b", Value: []byte("{}")}})
		}); err != nil {
			t.Errorf("%s: writing: %v", tt.message, err)
		}
	}
}

// A missing schema cannot be created in a read-only database; the error explains that.
func TestOpenReadOnlyWithoutASchema(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	server := testserver.StartPostgres(t)
	server.Create("empty")
	server.Query("", "ALTER DATABASE empty SET default_transaction_read_only = on")
	_, err := postgres.Open(t.Context(), server.URL("empty"), postgres.Options{Dial: dial, Now: time.Now})
	if !errors.Is(err, registry.ErrUnavailable) ||
		!strings.Contains(err.Error(),
			"server is read-only, but the schema of this urnd version must be created first") {
		t.Errorf("%v", err)
	}
}

// A rejected change marks the store as read-only, and a successful one as writable.
func TestUnwritableByChanges(t *testing.T) {
	server := testserver.StartPostgres(t)
	s := open(t, server.URL(""))
	for _, mode := range []string{"on", "off", "on"} {
		server.Query("", "ALTER SYSTEM SET default_transaction_read_only = "+mode)
		server.Query("", "SELECT pg_reload_conf()")
		testserver.Wait(t, "changes are refused, or made: "+mode, func() bool {
			err := s.Write(t.Context(), func(tx registry.WriteTx) error {
				return tx.Put(registry.TableMarks, []registry.Document{{Key: "urn:example:b", Value: []byte("{}")}})
			})
			return (err == nil) == (mode == "off") && errors.Is(s.ReadOnlyErr(), registry.ErrReadOnly) == (mode == "on")
		})
	}
}
