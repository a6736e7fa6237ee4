package testserver

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BIND is a running named, authoritative for its zones and for nothing else,
// on one port for UDP and TCP. Only the goroutine of the test may call its methods,
// which may end it (see testing.T.FailNow); any goroutine may call Addr.
type BIND struct {
	t       testing.TB
	dir     string
	addr    netip.AddrPort
	zones   []Zone
	process *process
	probe   *prober
	port    uint16 // of probe, retained after that is closed

	stopped bool
	markers int // sent so far
	since   int // offset in the query log of the last Reset
}

// StartBIND starts a server and returns when it answers for every zone. If a zone
// is invalid, the test fails with the message of BIND. The server stops at the end
// of the test, if not before.
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

// launch starts the server at addr; the error wraps errPortTaken if another process
// has the port.
func launch(t testing.TB, named string, addr netip.AddrPort, zones []Zone) (*BIND, error) {
	t.Helper()
	b := &BIND{t: t, dir: t.TempDir(), addr: addr, zones: zones}
	if err := writeBINDConfig(b.dir, addr.Port(), zones); err != nil {
		return nil, err
	}
	if err := checkBINDConfig(t, b.dir); err != nil {
		return nil, err
	}
	if err := b.start(named, zones); err != nil {
		return nil, err
	}
	return b, nil
}

// start starts the server, and returns when it answers for all zones.
func (b *BIND) start(named string, zones []Zone) (err error) {
	if b.probe, err = newProber(b.addr); err != nil {
		return err
	}
	b.port = b.probe.port()
	b.process, err = startProcess(b.dir, b.path(bindOutputFile), named,
		"-4", "-f", "-n", "1", "-L", bindOutputFile, "-c", bindConfigFile)
	if err != nil {
		return errors.Join(err, b.probe.close())
	}
	b.stopped = false
	if err := b.awaitZones(zones); err != nil {
		_ = b.stop() // err is more specific
		return err
	}
	return nil
}

// Start starts a stopped server again, at the same address. Queries before it are discarded.
func (b *BIND) Start() {
	b.t.Helper()
	err := poll(func() (bool, error) {
		if err := os.Remove(b.path(bindOutputFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, err
		}
		err := b.start(Need(b.t, "named"), b.zones)
		if errors.Is(err, errPortTaken) {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		b.t.Fatalf("start BIND again: %v", err)
	}
	b.Reset()
}

// awaitZones returns when the server answers for all zones.
func (b *BIND) awaitZones(zones []Zone) error {
	for _, zone := range zones {
		err := b.poll(func() (bool, error) {
			response, err := b.probe.query(zone.Name, typeSOA)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return false, nil
			}
			return err == nil && isAuthoritative(response), err
		})
		if err != nil {
			return fmt.Errorf("wait for zone %s: %w", zone.Name, err)
		}
	}
	// Only the query log proves that this server has answered.
	if _, err := b.mark(); err != nil {
		return err
	}
	return b.checkRunning()
}

// checkRunning returns an error if the server has ended, or does not have its port
// for both UDP and TCP.
func (b *BIND) checkRunning() error {
	err := b.process.ended() // first, so that the output of an ended server is complete
	output, readErr := os.ReadFile(b.path(bindOutputFile))
	if readErr != nil {
		return errors.Join(err, fmt.Errorf("read output: %w", readErr))
	}
	// named exits if it cannot listen on UDP, but not if it cannot on TCP.
	for _, message := range []string{"unable to listen", "address in use"} {
		if strings.Contains(string(output), message) {
			err = fmt.Errorf("%s: %w", b.addr, errPortTaken)
		}
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	return nil
}

// poll calls done until it reports true or fails, while the server runs, for at most
// Timeout. An error of the server includes its output.
func (b *BIND) poll(done func() (bool, error)) error {
	err := poll(func() (bool, error) {
		if ok, err := done(); ok || err != nil {
			return ok, err
		}
		return false, b.checkRunning()
	})
	if errors.Is(err, errLate) {
		return b.withOutput(err)
	}
	return err
}

// withOutput adds the output of the server to err.
func (b *BIND) withOutput(err error) error {
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

// Stop stops the server and returns when it has ended. A second call does nothing.
// The test fails if the server had ended before.
func (b *BIND) Stop() {
	b.t.Helper()
	if err := b.stop(); err != nil {
		b.t.Errorf("BIND: %v", b.withOutput(err))
	}
}

func (b *BIND) stop() error {
	if b.stopped {
		return nil
	}
	b.stopped = true
	return errors.Join(b.process.stop(), b.probe.close())
}
