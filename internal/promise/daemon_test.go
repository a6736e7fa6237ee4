package promise

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// daemon is a running urnd.
type daemon struct {
	service, tls, admin string // URLs
	directory           string
	stop                func() // stops it and waits; may only be called once
	log                 *strings.Builder
	process             *os.Process
	reloaded            chan struct{} // receives a value after each reload
}

// everything is a configuration that enables every feature that is observable without third-party servers; the
// server of cache.shared does not respond. DIR is a directory of the test, FILES that of files, DNS the address
// of its DNS server, and ORIGIN that of its HTTP server.
const everything = `
listen:
  service: ['127.0.0.1:0']
  tls: ['127.0.0.1:0']
  admin: 127.0.0.1:0
  names: [promise.example]
tls: {certificate: DIR/certificate.pem, key: DIR/key.pem}
dns: {servers: ['DNS'], timeout: 10s, rounds: 1}
ddds: {roots: [urn.promise.example.], uri_roots: [uri.promise.example.]}
resolve: {backoff: 0s}
namespaces:
  - {nid: example, targets: [{template: 'http://ORIGIN/{+nss}', type: text/plain}, {template: 'http://ORIGIN/2/{+nss}', language: de}]}
  - {nid: thttp, thttp: ['http://ORIGIN']}
registry:
  store: sqlite:DIR/registry.db
  owned: ['urn:promise:', 'ark:/12345/', 'https://purl.example/', 'https://id.example/']
  hosts: [purl.example]
  handles: [{prefix: '20.500.12345', names: 'urn:promise:'}]
  digital_link: [{root: 'https://id.example/', scheme: gs1, name: Example, contact: Example}]
  health_interval: 24h
  health_contact: mailto:a@example.org
  health_rate: 1000
  health_pause: 0s
cdn: {tags: Cache-Tag, ttl: 1h, webhooks: ['http://ORIGIN/purge']}
ark: {support_who: Example, support_what: all, support_when: always, support_where: 'https://example.org/'}
cache: {directory: DIR, disk: 16MiB, disk_directory: DIR/disk, shared: 'redis://127.0.0.1:1', shared_key: DIR/shared.key}
site: {name: Example, contact: 'mailto:a@example.org', imprint: 'https://example.org/imprint', privacy: 'https://example.org/privacy'}
access:
  allow_destinations: [127.0.0.0/8]
  browse_clients: [127.0.0.0/8]
  browse_all_clients: [127.0.0.0/8]
  security_contact: mailto:security@example.org
proxy:
  pac_proxies: ['promise.example:8141']
  rules: [{id: no-denied, action: deny, hosts: [denied.example]}]
  sites: [{hosts: [site.example], servers: ['http://ORIGIN']}]
file: {roots: [FILES]}
log: {level: DEBUG, format: json, access: [{file: DIR/access.log}]}
`

// start runs urnd with a configuration until it is stopped, at the latest by the end of the test.
func (p *program) start(t *testing.T, directory, config string, environment ...string) *daemon {
	t.Helper()
	file := filepath.Join(directory, "urnd.yaml")
	write(t, file, config)
	command := exec.Command(p.path, "serve", "--config", file)
	command.Env = append(cleanEnvironment(), environment...)
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	d := &daemon{directory: directory, log: new(strings.Builder), process: command.Process}
	d.reloaded = make(chan struct{}, 1)
	lines := bufio.NewScanner(stderr)
	for d.service == "" {
		if !lines.Scan() {
			_ = command.Wait()
			t.Fatalf("urnd ended before it was ready:\n%s", d.log)
		}
		d.log.WriteString(lines.Text() + "\n")
		var reported struct{ Msg, Service, TLS, Admin string }
		if json.Unmarshal(lines.Bytes(), &reported) == nil && reported.Msg == "urnd is ready" {
			d.service, d.tls, d.admin = "http://"+reported.Service, "https://"+reported.TLS, "http://"+reported.Admin
		}
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines.Scan() {
			d.log.WriteString(lines.Text() + "\n")
			if strings.Contains(lines.Text(), "configuration reloaded") {
				d.reloaded <- struct{}{}
			}
		}
	}()
	stopped := false
	d.stop = func() {
		if stopped {
			return
		}
		stopped = true
		_ = command.Process.Signal(syscall.SIGTERM)
		<-read
		if err := command.Wait(); err != nil {
			t.Errorf("urnd ended with %v:\n%s", err, d.log)
		}
	}
	t.Cleanup(d.stop)
	return d
}

// reload makes the daemon reload its configuration and waits for it.
func (d *daemon) reload(t *testing.T) {
	t.Helper()
	if err := d.process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	<-d.reloaded
}

// prepare creates a directory with the files named in the configuration, and returns it with the configuration.
func (p *program) prepare(t *testing.T, dns, origin string) (directory, config string) {
	t.Helper()
	directory = t.TempDir()
	if err := os.Mkdir(filepath.Join(directory, "disk"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(directory, "shared.key"), strings.Repeat("k", 32)+"\n")
	writeCertificate(t, directory)
	host := strings.TrimPrefix(origin, "http://")
	fill := strings.NewReplacer("DIR", directory, "FILES", files(t), "DNS", dns, "ORIGIN", host)
	return directory, fill.Replace(everything)
}

// files returns the directory of the files that urnd serves. They are not created by the test, because a
// recently changed file has no Last-Modified.
func files(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "files"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeCertificate writes a self-signed certificate and its key.
func writeCertificate(t *testing.T, directory string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"promise.example"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotAfter:    time.Now().Add(90 * 24 * time.Hour),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []struct {
		name string
		pem.Block
	}{
		{"certificate.pem", pem.Block{Type: "CERTIFICATE", Bytes: certificate}},
		{"key.pem", pem.Block{Type: "PRIVATE KEY", Bytes: private}},
	} {
		write(t, filepath.Join(directory, file.name), string(pem.EncodeToMemory(&file.Block)))
	}
}
