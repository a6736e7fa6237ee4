package testserver

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Postgres is a running PostgreSQL server with durable commits. It trusts every local client. Only the
// goroutine of the test may call its methods, which may end it.
type Postgres struct {
	t       testing.TB
	dir     string
	addr    netip.AddrPort
	process *process // nil while stopped
}

const (
	postgresData   = "data"
	postgresOutput = "postgres.out"
	// PostgresUser is the superuser of a Postgres.
	PostgresUser = "postgres"
)

// StartPostgres creates an empty database cluster and waits until it accepts connections. It ends with the
// test.
func StartPostgres(t testing.TB) *Postgres {
	t.Helper()
	p := &Postgres{t: t, dir: postgresFolder(t)}
	p.run("initdb", "--username", PostgresUser, "--auth", "trust", "--encoding", "UTF8", "--no-locale", "--no-sync",
		"--pgdata", p.data())
	p.launch()
	return p
}

// For returns the server for a subtest that runs in parallel with others. It may use its own database, and must
// not stop the server.
func (p *Postgres) For(t testing.TB) *Postgres {
	shared := *p
	shared.t = t
	return &shared
}

// StartStandby starts a streaming replica of p that accepts queries.
func (p *Postgres) StartStandby() *Postgres {
	p.t.Helper()
	s := &Postgres{t: p.t, dir: postgresFolder(p.t)}
	s.run("pg_basebackup", "--pgdata", s.data(), "--host", p.dir, "--port", p.port(), "--username", PostgresUser,
		"--checkpoint", "fast", "--write-recovery-conf", "--no-sync")
	s.launch()
	return s
}

// postgresFolder returns a new folder that is writable for the user of PostgreSQL, which is not root.
func postgresFolder(t testing.TB) string {
	t.Helper()
	dir := OpenFolder(t)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// launch starts the server on a free port for the first time.
func (p *Postgres) launch() {
	p.t.Helper()
	const attempts = 5
	var err error
	for range attempts {
		if p.addr, err = freePort(); err != nil {
			break
		}
		if err = p.start(); !errors.Is(err, errPortTaken) {
			break
		}
	}
	if err != nil {
		p.t.Fatalf("start PostgreSQL: %v", err)
	}
	p.t.Cleanup(func() {
		if p.process != nil {
			p.Stop()
		}
	})
}

// start starts the server and waits until it accepts connections.
func (p *Postgres) start() error {
	cmd := p.command("postgres", "-D", p.data(), "-k", p.dir, "-p", p.port(), "-h", p.addr.Addr().String(),
		"-c", "dynamic_shared_memory_type=mmap")
	if err := os.WriteFile(p.output(), nil, 0o600); err != nil { // remove the output of an earlier attempt
		return err
	}
	var err error
	if p.process, err = startCommand(p.dir, p.output(), cmd); err != nil {
		return err
	}
	err = poll(func() (bool, error) {
		ended, output := p.process.ended(), p.Log()
		if ended != nil && strings.Contains(output, "could not create any TCP/IP sockets") {
			ended = errPortTaken
		}
		return strings.Contains(output, "ready to accept"), ended
	})
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, p.Log())
		p.process = nil
	}
	return err
}

// Start restarts a stopped server on the same port.
func (p *Postgres) Start() {
	p.t.Helper()
	// Processes of a killed server keep its shared memory until they notice, and a connection of another
	// process may use the port temporarily.
	err := poll(func() (bool, error) {
		err := p.start()
		if errors.Is(err, errPortTaken) || err != nil && strings.Contains(err.Error(), "still in use") {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		p.t.Fatalf("start PostgreSQL again: %v", err)
	}
}

// Promote makes a standby a primary.
func (p *Postgres) Promote() {
	p.t.Helper()
	p.run("pg_ctl", "promote", "--pgdata", p.data(), "--wait")
}

// Stop stops the server, which closes all connections.
func (p *Postgres) Stop() {
	p.t.Helper()
	p.end(syscall.SIGINT)
}

// Kill kills the server as a power failure would: no more data is written.
func (p *Postgres) Kill() {
	p.t.Helper()
	p.end(syscall.SIGKILL)
}

func (p *Postgres) end(signal syscall.Signal) {
	p.t.Helper()
	if err := p.process.cmd.Process.Signal(signal); err != nil {
		p.t.Errorf("stop PostgreSQL: %v", err)
	}
	timer := time.NewTimer(Timeout)
	defer timer.Stop()
	select {
	case <-p.process.done:
	case <-timer.C:
		p.t.Errorf("PostgreSQL does not stop\n%s", p.Log())
		_ = p.process.cmd.Process.Kill() // fails only if it has ended
		<-p.process.done
	}
	p.process = nil
}

// URL returns the URL of a database through the Unix socket. An empty name stands for the first database.
func (p *Postgres) URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(PostgresUser), Path: "/" + databaseName(database)}
	u.RawQuery = url.Values{"host": {p.dir}, "port": {p.port()}}.Encode()
	return u.String()
}

// URLAt returns the URL of a database at an address, such as Addr or that of a Relay.
func (p *Postgres) URLAt(addr, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(PostgresUser), Host: addr, Path: "/" + databaseName(database)}
	return u.String()
}

// Socket returns the path of the Unix socket.
func (p *Postgres) Socket() string { return filepath.Join(p.dir, ".s.PGSQL."+p.port()) }

func databaseName(name string) string {
	if name == "" {
		return PostgresUser
	}
	return name
}

// Addr returns the listening address as "127.0.0.1:port".
func (p *Postgres) Addr() string { return p.addr.String() }

// Create creates an empty database.
func (p *Postgres) Create(database string) {
	p.t.Helper()
	p.run("createdb", "--host", p.dir, "--port", p.port(), "--username", PostgresUser, database)
}

// Query returns the output of psql for a statement: rows as lines, columns separated by "|".
func (p *Postgres) Query(database, statement string) string {
	p.t.Helper()
	return p.run("psql", "--host", p.dir, "--port", p.port(), "--username", PostgresUser, "--no-psqlrc", "--quiet",
		"--tuples-only", "--no-align",
		"--set", "ON_ERROR_STOP=1", "--command", statement, databaseName(database))
}

// RequirePassword makes the server require a password for a role, also on the Unix socket.
func (p *Postgres) RequirePassword(role string) {
	p.t.Helper()
	path := filepath.Join(p.data(), "pg_hba.conf")
	rules, err := os.ReadFile(path)
	if err == nil {
		rule := "local all " + role + " scram-sha-256\nhost all " + role + " all scram-sha-256\n"
		err = os.WriteFile(path, append([]byte(rule), rules...), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.Query("", "SELECT pg_reload_conf()")
}

// run runs a PostgreSQL program and returns its output.
func (p *Postgres) run(program string, args ...string) string {
	p.t.Helper()
	output, err := p.command(program, args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", program, err, output)
	}
	return strings.TrimSpace(string(output))
}

// command returns a PostgreSQL command that does not run as root, which the server rejects.
func (p *Postgres) command(program string, args ...string) *exec.Cmd {
	p.t.Helper()
	cmd := exec.Command(postgresProgram(p.t, program), args...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "LC_ALL=C", "HOME="+p.dir)
	if err := asNobody(cmd); err != nil {
		p.t.Fatal(err)
	}
	return cmd
}

// postgresProgram returns the path of a PostgreSQL program. Debian installs them in a folder for each version,
// which is not in PATH.
func postgresProgram(t testing.TB, program string) string {
	t.Helper()
	paths, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + program) // the pattern is valid
	if len(paths) == 0 {
		return Need(t, program)
	}
	return slices.MaxFunc(paths, func(a, b string) int { return postgresVersion(a) - postgresVersion(b) })
}

func postgresVersion(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // 0 if it is not a number
	return n
}

// Log returns the output of the server since its start.
func (p *Postgres) Log() string {
	text, _ := os.ReadFile(p.output()) // only for a message
	return string(text)
}

func (p *Postgres) data() string   { return filepath.Join(p.dir, postgresData) }
func (p *Postgres) output() string { return filepath.Join(p.dir, postgresOutput) }
func (p *Postgres) port() string   { return strconv.Itoa(int(p.addr.Port())) }

// Certify makes the server support TLS with a certificate and its key.
func (p *Postgres) Certify(certificate, key []byte) {
	p.t.Helper()
	for name, text := range map[string][]byte{"server.crt": certificate, "server.key": key} {
		path := filepath.Join(p.dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			p.t.Fatal(err)
		}
		if cmd := p.command("postgres"); cmd.SysProcAttr != nil && cmd.SysProcAttr.Credential != nil {
			if err := os.Chown(path, int(cmd.SysProcAttr.Credential.Uid),
				int(cmd.SysProcAttr.Credential.Gid)); err != nil {
				p.t.Fatal(err)
			}
		}
		setting := map[string]string{"server.crt": "ssl_cert_file", "server.key": "ssl_key_file"}[name]
		p.Query("", "ALTER SYSTEM SET "+setting+" = '"+path+"'")
	}
	p.Query("", "ALTER SYSTEM SET ssl = on")
	p.Stop()
	p.Start()
	if got := p.Query("", "SHOW ssl"); got != "on" {
		p.t.Fatalf("TLS is %q\n%s", got, p.Log())
	}
}
