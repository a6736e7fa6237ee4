package testserver

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// PgBouncer is a running PgBouncer, which pools transactions of a PostgreSQL server.
type PgBouncer struct{ dir string }

// pgBouncerConfig permits any database. It only listens on a socket, whose name contains the port.
const pgBouncerConfig = `[databases]
* = host=%s port=%s user=%s
[pgbouncer]
listen_port = 6432
unix_socket_dir = %[4]s
auth_type = any
pool_mode = transaction
default_pool_size = 4
`

// StartPgBouncer starts PgBouncer in front of a server and waits until it accepts connections. It ends with the
// test.
func StartPgBouncer(t testing.TB, of *Postgres) *PgBouncer {
	t.Helper()
	b := &PgBouncer{dir: postgresFolder(t)}
	config, output := filepath.Join(b.dir, "pgbouncer.ini"), filepath.Join(b.dir, "pgbouncer.out")
	text := fmt.Sprintf(pgBouncerConfig, of.dir, of.port(), PostgresUser, b.dir)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(Need(t, "pgbouncer"), config)
	if err := asNobody(cmd); err != nil {
		t.Fatal(err)
	}
	p, err := startCommand(b.dir, output, cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.stop() })
	err = poll(func() (bool, error) {
		reported, _ := os.ReadFile(output) // the file was created before the start
		return strings.Contains(string(reported), "process up"), p.ended()
	})
	if err != nil {
		reported, _ := os.ReadFile(output)
		t.Fatalf("start PgBouncer: %v\n%s", err, reported)
	}
	return b
}

// URL returns the URL of a database through PgBouncer, for clients without prepared statements, which it does
// not support.
func (b *PgBouncer) URL(database string) string {
	q := url.Values{"host": {b.dir}, "port": {"6432"}, "default_query_exec_mode": {"exec"}}
	return "postgres://" + PostgresUser + "@/" + database + "?" + q.Encode()
}
