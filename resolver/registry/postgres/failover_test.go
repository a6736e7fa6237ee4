package postgres_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
)

// Of several servers, the one that accepts writes is used: by default never a standby. If the URL permits a
// standby, it is abandoned once it has rejected a change.
func TestServersOfAURL(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	primary := testserver.StartPostgres(t)
	connect(t, primary.URL("")).store.Close()
	standby := primary.StartStandby()
	relay := testserver.StartRelay(t, primary.Socket())
	n := 0
	apply := func(i *instance) error {
		n++
		_, err := i.Apply(t.Context(), admin, edit("urn:example:a", fmt.Sprintf("https://example.org/%d", n)))
		return err
	}

	i := connect(t, primary.URLAt(standby.Addr()+","+relay.Addr(), ""))
	defer i.store.Close()
	if err := apply(i); err != nil {
		t.Errorf("the second server is the primary: %v", err)
	}
	relay.Cut()
	if _, err := i.store.Lookup(t.Context(), registry.Name("urn:example:a")); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("looking up at the standby: %v", err)
	}
	relay.Restore()
	if err := apply(i); err != nil {
		t.Errorf("the primary is back: %v", err)
	}

	catchUp(t, standby, primary)
	any := connect(t, primary.URLAt(relay.Addr()+","+standby.Addr(), "")+"?target_session_attrs=any")
	defer any.store.Close()
	relay.Cut()
	if e, err := any.store.Lookup(t.Context(), registry.Name("urn:example:a")); err != nil || !e.Exists() {
		t.Errorf("looking up at the standby: %+v, %v", e, err)
	}
	relay.Restore()
	if err := apply(any); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("a change at the standby: %v", err)
	}
	if err := apply(any); err != nil {
		t.Errorf("the next change: %v", err)
	}
}
