package postgres

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
)

// After a crash the id of a transaction of which nothing was left is that of another one, which may be
// committed: it is not taken for the first.
func TestIDOfAnotherTransaction(t *testing.T) {
	server := testserver.StartPostgres(t)
	s, err := Open(t.Context(), server.URL(""), Options{Now: time.Now, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var id identity
	err = s.Write(t.Context(), func(tx registry.WriteTx) error {
		e := registry.Entry{Key: registry.Name("urn:example:a"), Version: 1}
		if err := registry.Append(tx, []registry.Entry{e}); err != nil {
			return err
		}
		w, _ := tx.(*transaction)
		id, err = w.seal()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	other, earlier, elsewhere := id, id, id
	other.rec = append([]byte(nil), id.rec...)
	other.rec[len(other.rec)-1] ^= 1
	earlier.rec, earlier.started = nil, "before"
	elsewhere.timeline = "00000009"
	for _, tt := range []struct {
		what      string
		id        identity
		committed bool
		err       error
	}{
		{"itself", id, true, nil},
		{"one that made another version", other, false, nil},
		{"one without a version, before a restart", earlier, false, errRestarted},
		{"one of another primary", elsewhere, false, errTimeline},
	} {
		if committed, err := s.outcome(t.Context(), tt.id); committed != tt.committed || !errors.Is(err, tt.err) {
			t.Errorf("%s: %t, %v", tt.what, committed, err)
		}
	}
}
