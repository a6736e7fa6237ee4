package testserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Z3950 is a running server of Z39.50 on loopback.
type Z3950 struct {
	addr    netip.AddrPort
	process *process
}

// Addr returns the listening address as "127.0.0.1:port".
func (z *Z3950) Addr() string { return z.addr.String() }

const (
	z3950OutputFile = "z3950.out"
	zebraConfigFile = "zebra.cfg"
	zebraRecords    = "records"
)

// StartYazTest starts yaz-ztest, the test server of YAZ: its database Default returns a number of records that
// it derives from the query. It stops at the end of the test.
func StartYazTest(t testing.TB) *Z3950 {
	t.Helper()
	return startZ3950(t, Need(t, "yaz-ztest"), t.TempDir(), "-T")
}

// zebraConfig is for a database in the folder of the configuration.
const zebraConfig = `profilePath: .:/usr/share/idzebra-2.0/tab
attset: bib1.att
recordType: grs.sgml
storeData: 1
perm.anonymous: r
`

// zebraProfile defines how records "<paper>" are indexed, including a document identifier.
const zebraProfile = `name paper
attset bib1.att
esetname B @
esetname F @
xelm /paper/title Title:w,Title:p,Any:w,Any:p
xelm /paper/author Author:w,Any:w
xelm /paper/text Any:w,Any:p
xelm /paper/id Doc-id:u
`

// StartZebra starts Zebra with the database Default of records: SGML elements "<paper>" with title, author,
// text and id. It stops at the end of the test.
func StartZebra(t testing.TB, records ...string) *Z3950 {
	t.Helper()
	server, index, dir := Need(t, "zebrasrv"), Need(t, "zebraidx"), t.TempDir()
	files := map[string]string{zebraConfigFile: zebraConfig, "paper.abs": zebraProfile}
	for i, record := range records {
		files[filepath.Join(zebraRecords, fmt.Sprintf("%d.sgml", i))] = record
	}
	if err := os.Mkdir(filepath.Join(dir, zebraRecords), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), Timeout)
	defer cancel()
	for _, args := range [][]string{{"init"}, {"-d", "Default", "update", zebraRecords}} {
		cmd := exec.CommandContext(ctx, index, append([]string{"-c", zebraConfigFile}, args...)...)
		cmd.Dir = dir
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("zebraidx %v: %v\n%s", args, err, output)
		}
	}
	return startZ3950(t, server, dir, "-T", "-c", zebraConfigFile)
}

// startZ3950 starts a server of YAZ and waits until it accepts connections.
func startZ3950(t testing.TB, path, dir string, args ...string) *Z3950 {
	t.Helper()
	const attempts = 5
	var last error
	for range attempts {
		addr, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		z, err := launchZ3950(t.Context(), path, dir, addr, args)
		if err == nil {
			t.Cleanup(func() {
				if err := z.process.ended(); err != nil {
					t.Errorf("%s: %v\n%s", path, err, z3950Output(dir))
				}
				z.kill()
			})
			return z
		}
		if last = err; !errors.Is(err, errPortTaken) {
			break
		}
	}
	t.Fatalf("start %s: %v\n%s", path, last, z3950Output(dir))
	return nil
}

func launchZ3950(ctx context.Context, path, dir string, addr netip.AddrPort, args []string) (*Z3950, error) {
	p, err := startProcess(dir, filepath.Join(dir, z3950OutputFile), path, append(args, "tcp:"+addr.String())...)
	if err != nil {
		return nil, err
	}
	z := &Z3950{addr: addr, process: p}
	err = poll(func() (bool, error) {
		if err := p.ended(); err != nil {
			return false, err
		}
		return accepts(ctx, addr), nil
	})
	if err != nil {
		z.kill()
		if isTaken(addr) {
			err = fmt.Errorf("%w: %w", errPortTaken, err)
		}
		return nil, err
	}
	return z, nil
}

// kill kills the server and waits for it. A SIGTERM before it waits for connections would be lost.
func (z *Z3950) kill() {
	_ = z.process.cmd.Process.Kill() // fails only if it has ended
	<-z.process.done
}

// z3950Output returns the output of the server, "" if it cannot be read.
func z3950Output(dir string) string {
	text, _ := os.ReadFile(filepath.Join(dir, z3950OutputFile)) // only for a message
	return string(text)
}

// accepts reports whether a server listens at addr.
func accepts(ctx context.Context, addr netip.AddrPort) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr.String())
	if err == nil {
		_ = conn.Close() // nothing was written
	}
	return err == nil
}
