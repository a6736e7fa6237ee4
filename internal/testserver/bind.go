package testserver

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long to poll for what takes milliseconds on an idle machine.
const patience = 20 * time.Second

// BIND is a running named, authoritative for its zones and for nothing else,
// on one port for UDP and TCP. Its methods are for the test's own goroutine, which
// they may end (see testing.T.FailNow); Addr is for all.
type BIND struct {
	t       testing.TB
	dir     string
	addr    netip.AddrPort
	process *process
	probe   *prober
	port    uint16 // the probe's, also when that is closed

	stopped bool
	markers int // sent so far
	since   int // where in the query log the last Reset was
}

// StartBIND starts a server and returns once it answers for every zone. The
// test fails, with BIND's own words, when a zone is bad. The server stops at
// the end of the test, if not before.
func StartBIND(t testing.TB, zones ...Zone) *BIND {
	t.Helper()
	b, err := startBIND(t, zones...)
	if err != nil {
		t.Fatalf("start BIND: %v", err)
	}
	return b
}

func startBIND(t testing.TB, zones ...Zone) (*BIND, error) {
	t.Helper()
	named := Need(t, "named")
	const attempts = 5
	var last error
	for range attempts {
		addr, err := freePort()
		if err != nil {
			return nil, err
		}
		b, err := launch(t, named, addr, zones)
		if err == nil {
			t.Cleanup(b.Stop)
			return b, nil
		}
		if !errors.Is(err, errPortTaken) {
			return nil, err
		}
		last = err
	}
	return nil, last
}

// launch starts the server at addr; the error is errPortTaken when another port
// may do.
func launch(t testing.TB, named string, addr netip.AddrPort, zones []Zone) (*BIND, error) {
	t.Helper()
	b := &BIND{t: t, dir: t.TempDir(), addr: addr}
	if err := writeBINDConfig(b.dir, addr.Port(), zones); err != nil {
		return nil, err
	}
	if err := checkBINDConfig(t, b.dir); err != nil {
		return nil, err
	}
	var err error
	if b.probe, err = newProber(addr); err != nil {
		return nil, err
	}
	b.port = b.probe.port()
	b.process, err = startProcess(b.dir, b.path(bindOutputFile), named,
		"-4", "-f", "-n", "1", "-L", bindOutputFile, "-c", bindConfigFile)
	if err != nil {
		return nil, errors.Join(err, b.probe.close())
	}
	if err := b.awaitZones(zones); err != nil {
		_ = b.stop() // err tells more
		return nil, err
	}
	return b, nil
}

// awaitZones returns when the server answers for all zones.
func (b *BIND) awaitZones(zones []Zone) error {
	for _, zone := range zones {
		err := b.poll(func() (bool, error) {
			response, err := b.probe.ask(zone.Name, typeSOA)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return false, nil
			}
			return err == nil && isAuthoritative(response), err
		})
		if err != nil {
			return fmt.Errorf("wait for zone %s: %w", zone.Name, err)
		}
	}
	// Only the log proves that it was this server that answered.
	if _, err := b.mark(); err != nil {
		return err
	}
	return b.trouble()
}

// trouble reports that the server ended, or that it has not all of its port.
func (b *BIND) trouble() error {
	err := b.process.ended() // first, so that the output of the dead is whole
	output, readErr := os.ReadFile(b.path(bindOutputFile))
	if readErr != nil {
		return errors.Join(err, fmt.Errorf("read output: %w", readErr))
	}
	// named gives up without UDP, but goes on without TCP.
	for _, sign := range []string{"unable to listen", "address in use"} {
		if strings.Contains(string(output), sign) {
			err = fmt.Errorf("%s: %w", b.addr, errPortTaken)
		}
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	return nil
}

// poll calls done until it reports true or fails, for as long as the server
// lives and patience lasts. Its errors tell what the server printed.
func (b *BIND) poll(done func() (bool, error)) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		if err := b.trouble(); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return b.explain(fmt.Errorf("nothing within %v", patience))
		}
	}
}

// explain adds what the server printed.
func (b *BIND) explain(err error) error {
	output, readErr := os.ReadFile(b.path(bindOutputFile))
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	return fmt.Errorf("%w\n%s", err, output)
}

func (b *BIND) path(file string) string {
	return filepath.Join(b.dir, file)
}

// Addr returns where the server listens, as "127.0.0.1:port".
func (b *BIND) Addr() string {
	return b.addr.String()
}

// Stop stops the server and returns when it is gone. A second call does
// nothing. The test fails if the server had died before.
func (b *BIND) Stop() {
	b.t.Helper()
	if err := b.stop(); err != nil {
		b.t.Errorf("BIND: %v", b.explain(err))
	}
}

func (b *BIND) stop() error {
	if b.stopped {
		return nil
	}
	b.stopped = true
	return errors.Join(b.process.stop(), b.probe.close())
}
