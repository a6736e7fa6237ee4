package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/urnd/urnd/internal/testserver"
)

// A page of a list is read in the order of an index, without reading and sorting all following names, even if
// the server has no statistics yet, as after an import.
func TestPlanner(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a server")
	}
	server := testserver.StartPostgres(t)
	server.Create("names")
	conn, err := pgx.Connect(t.Context(), server.URL("names"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := setPlanner(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`CREATE TABLE name (kind SMALLINT NOT NULL, key TEXT COLLATE "C" NOT NULL, id BIGINT NOT NULL, PRIMARY KEY (kind, key))`,
		"ALTER TABLE name SET (autovacuum_enabled = off)",
		"INSERT INTO name SELECT 0, 'urn:nbn:fi-' || md5(i::text), i FROM generate_series(1, 200000) i",
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	rows, _ := conn.Query(t.Context(),
		"EXPLAIN SELECT key FROM name WHERE kind = 0::bigint AND key >= 'urn:' AND key < 'urn:z' ORDER BY key LIMIT "+
			"1 OFFSET 1000")
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if text := strings.Join(plan, "\n"); err != nil || strings.Contains(text, "Sort") ||
		!strings.Contains(text, "using name_pkey") {
		t.Errorf("%v\n%s", err, text)
	}
}
