package testserver

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// StartRedisTLS is like StartRedis with an additional port, TLSAddr, for TLS with a certificate for its
// address.
func StartRedisTLS(t testing.TB, ca *Authority, args ...string) *Redis {
	t.Helper()
	addr, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	r := &Redis{tls: addr, pair: t.TempDir(), ca: ca}
	certificate, key := ca.Issue(time.Hour, addr.Addr().String())
	r.writePair(t, certificate, key)
	return r.launch(t, append([]string{
		"--tls-port", port(addr), "--tls-auth-clients", "no", "--tls-cert-file",
		filepath.Join(r.pair, "certificate.pem"), "--tls-key-file", filepath.Join(r.pair, "key.pem"),
		"--tls-ca-cert-file", ca.File,
	}, args...))
}

func (r *Redis) writePair(t testing.TB, certificate, key []byte) {
	t.Helper()
	err := errors.Join(
		os.WriteFile(filepath.Join(r.pair, "certificate.pem"), certificate, 0o600),
		os.WriteFile(filepath.Join(r.pair, "key.pem"), key, 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
}

// TLSAddr returns the listening address for TLS as "127.0.0.1:port".
func (r *Redis) TLSAddr() string { return r.tls.String() }

// Certify replaces the certificate of the server. Existing connections remain.
func (r *Redis) Certify(certificate, key []byte) {
	r.t.Helper()
	r.writePair(r.t, certificate, key)
	if reply := r.Do("CONFIG", "SET", "tls-cert-file", filepath.Join(r.pair, "certificate.pem")); reply != "+OK\r\n" {
		r.t.Fatalf("replace the certificate: %s", reply)
	}
}

// port returns the port of an address as a string.
func port(addr netip.AddrPort) string { return strconv.Itoa(int(addr.Port())) }
