//go:build e2e

package dialogs

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.yaml.in/yaml/v3"
)

// waitLimit is the time limit for events that should happen immediately, including a busy machine.
const waitLimit = 20 * time.Second

// world is a daemon with its peers. The ports are the same in each world, and the addresses in 127.0.0.0/8 are
// its own, so that recordings contain no variable ports.
type world struct {
	net       string // first three bytes of the addresses
	directory string
	log       *daemonLog
	cmd       *exec.Cmd
	ended     chan struct{}
	origin    *origin
	closers   []io.Closer
}

// Client addresses: each is a separate client.
const (
	localClient   = "127.0.0.1" // may use the proxy and browse
	otherClient   = "127.0.0.2" // may use the proxy
	trustedClient = "127.0.0.3" // in access.trusted_proxies
	balancer      = "127.0.0.4" // in listen.proxy_protocol
)

func (w *world) service() string { return w.net + ".1:8141" }
func (w *world) secure() string  { return w.net + ".1:8443" }
func (w *world) admin() string   { return w.net + ".1:8142" }

// networks allocates the networks of worlds.
type networks struct {
	mu   sync.Mutex
	next int
}

// take listens on the address of urnd's peers in a network that no other process uses, and returns the first
// three bytes of its addresses.
func (n *networks) take() (string, net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for range 1000 {
		n.next++
		network := fmt.Sprintf("127.%d.%d", 1+(os.Getpid()+n.next/200)%250, 1+n.next%200)
		if l, err := net.Listen("tcp", network+".3:8000"); err == nil {
			return network, l, nil
		}
	}
	return "", nil, errors.New("no network of 127.0.0.0/8 is free")
}

var worlds networks

// newWorld starts the peers and the daemon, with settings that override testdata/world/urnd.yaml.
func newWorld(from *template, directory, settings string) (*world, error) {
	network, listener, err := worlds.take()
	if err != nil {
		return nil, err
	}
	w := &world{net: network, directory: directory, ended: make(chan struct{}), log: &daemonLog{}}
	w.origin = newOrigin(listener)
	w.closers = append(w.closers, w.origin)
	if err := w.startPeers(); err != nil {
		return nil, errors.Join(err, w.close())
	}
	for _, name := range []string{"certificate.pem", "key.pem", "names.db"} {
		text, err := os.ReadFile(filepath.Join(from.directory, name))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(directory, name), text, 0o600); err != nil {
			return nil, err
		}
	}
	if err := w.startDaemon(from.binary, settings); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// startPeers starts all peers except the origin.
func (w *world) startPeers() error {
	zone, err := os.ReadFile("testdata/world/zone.txt")
	if err != nil {
		return err
	}
	dns, err := newNameServer(w.net+".2:5300", strings.ReplaceAll(string(zone), "NET", w.net))
	if err != nil {
		return err
	}
	w.closers = append(w.closers, dns)
	for address, serve := range map[string]func(net.Conn){
		".4:8100": serveTHTTP, ".5:7070": serveGopher, ".5:79": nil, ".6:9443": serveEcho,
	} {
		if serve == nil {
			continue
		}
		l, err := net.Listen("tcp", w.net+address)
		if err != nil {
			return err
		}
		w.closers = append(w.closers, l)
		go acceptAll(l, serve)
	}
	return nil
}

func acceptAll(l net.Listener, serve func(net.Conn)) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			serve(conn)
		}()
	}
}

// merged returns the configuration of the world with overriding settings.
func (w *world) merged(settings string) ([]byte, error) {
	text, err := os.ReadFile("testdata/world/urnd.yaml")
	if err != nil {
		return nil, err
	}
	replaced := strings.NewReplacer("NET", w.net, "DIR", w.directory)
	var base, above map[string]any
	if err := yaml.Unmarshal([]byte(replaced.Replace(string(text))), &base); err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal([]byte(replaced.Replace(settings)), &above); err != nil {
		return nil, err
	}
	for section, value := range above {
		if of, ok := base[section].(map[string]any); ok {
			if with, ok := value.(map[string]any); ok {
				maps.Copy(of, with)
				continue
			}
		}
		base[section] = value
	}
	return yaml.Marshal(base)
}

func (w *world) startDaemon(program, settings string) error {
	config, err := w.merged(settings)
	if err != nil {
		return err
	}
	file := filepath.Join(w.directory, "urnd.yaml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return err
	}
	w.cmd = exec.Command(program, "serve", "--config", file)
	stderr, err := w.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := w.cmd.Start(); err != nil {
		return err
	}
	ready := make(chan struct{})
	go func() {
		defer close(w.ended)
		w.log.read(stderr, ready)
		_ = w.cmd.Wait()
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 3*waitLimit)
	defer cancel()
	select {
	case <-ready:
		return nil
	case <-w.ended:
		return fmt.Errorf("urnd ended before it was ready: %s", w.log.tail())
	case <-ctx.Done():
		return fmt.Errorf("urnd was not ready: %s", w.log.tail())
	}
}

// close stops the daemon, then its peers. It returns an error if the daemon has panicked, or does not stop.
func (w *world) close() error {
	var err error
	if w.cmd != nil && w.cmd.Process != nil {
		_ = w.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-w.ended:
		case <-time.After(waitLimit):
			_ = w.cmd.Process.Kill()
			<-w.ended
			err = fmt.Errorf("urnd did not end: %s", w.log.tail())
		}
	}
	for _, c := range w.closers {
		c.Close()
	}
	return errors.Join(err, w.log.panics())
}

// daemonLog keeps the last lines of the log of a daemon, and those that indicate a bug.
type daemonLog struct {
	mu          sync.Mutex
	last, fatal []string
}

func (l *daemonLog) read(from io.Reader, ready chan<- struct{}) {
	announced := false
	for lines := bufio.NewReaderSize(from, 1<<20); ; {
		line, err := lines.ReadString('\n')
		l.note(line)
		var reported struct{ Msg string }
		if !announced && json.Unmarshal([]byte(line), &reported) == nil && reported.Msg == "urnd is ready" {
			announced = true
			close(ready)
		}
		if err != nil {
			return
		}
	}
}

func (l *daemonLog) note(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last = append(l.last, line); len(l.last) > 10 {
		l.last = l.last[1:]
	}
	for _, text := range []string{"panic", "fatal error:", "DATA RACE"} {
		if strings.Contains(line, text) && len(l.fatal) < 5 {
			l.fatal = append(l.fatal, line)
		}
	}
}

func (l *daemonLog) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.last, "")
}

func (l *daemonLog) panics() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.fatal) == 0 {
		return nil
	}
	return fmt.Errorf("the log of urnd tells of a bug: %s", strings.Join(l.fatal, ""))
}

// namesOfWorld returns the names of the registry with common members added: a version, its time and its author.
func namesOfWorld() ([]byte, error) {
	text, err := os.ReadFile("testdata/world/names.ndjson")
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	for line := range strings.Lines(string(text)) {
		var name map[string]any
		if err := json.Unmarshal([]byte(line), &name); err != nil {
			return nil, fmt.Errorf("reading %s: %w", line, err)
		}
		for member, value := range map[string]any{
			"version": 1, "changed": "2020-05-01T10:00:00Z", "since": "2020-05-01T10:00:00Z", "by": "editor",
			"status": "active",
		} {
			if name[member] == nil {
				name[member] = value
			}
		}
		line, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		all.Write(append(line, '\n'))
	}
	return all.Bytes(), nil
}

// writeCertificate writes a self-signed certificate and its key.
func writeCertificate(directory string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	made := x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"urnd.example"},
		NotAfter: time.Now().Add(24 * time.Hour),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, &made, &made, &key.PublicKey, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{
		"certificate.pem": {Type: "CERTIFICATE", Bytes: certificate},
		"key.pem":         {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(directory, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}
