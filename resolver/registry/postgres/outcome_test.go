package postgres

import (
	"bytes"
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry/store"
)

// After a crash, the ID of a transaction that left no trace is reused by another one, which may be committed.
// That is not mistaken for the first.
func TestIDOfAnotherTransaction(t *testing.T) {
	server := testserver.StartPostgres(t)
	s, err := Open(t.Context(), server.URL(""),
		Options{Now: time.Now, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var id identity
	err = database{s}.Write(t.Context(), false, func(c store.Conn) error {
		w, _ := c.(*conn)
		const insert = "INSERT INTO author (id, name) VALUES (1, 'a'); INSERT INTO change_set (id, kind, author, " +
			"time, last, size) VALUES (1, '', 1, 0, 1, 1); " +
			"INSERT INTO commits (first, last, change_set, digest) VALUES (1, 1, 1, decode(repeat('ab', 32), 'hex'))"
		if _, err := w.tx.Exec(t.Context(), insert); err != nil {
			return err
		}
		w.wrote = true
		w.Written(1, bytes.Repeat([]byte{0xab}, 32))
		id, err = w.seal()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	other, earlier, elsewhere := id, id, id
	other.digest = append([]byte(nil), id.digest...)
	other.digest[len(other.digest)-1] ^= 1
	earlier.digest, earlier.started = nil, "before"
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
