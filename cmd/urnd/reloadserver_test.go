package main

import (
	"crypto/tls"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/urnd/urnd/internal/testserver"
)

// startWithTLS runs a fileDaemon with a TLS listener, and returns the lines of its configuration.
func startWithTLS(t *testing.T) (l *fileDaemon, lines []string) {
	t.Helper()
	certificate, key := testserver.NewAuthority(t).Issue(time.Hour, "localhost")
	directory := t.TempDir()
	for name, text := range map[string][]byte{"certificate": certificate, "key": key} {
		if err := os.WriteFile(filepath.Join(directory, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines = []string{
		`listen: {service: "127.0.0.1:0", tls: "127.0.0.1:0", admin: ""}`,
		"tls: {certificate: '" + directory + "/certificate', key: '" + directory + "/key'}",
		"access: {proxy_clients: []}",
	}
	return start(t, lines...), lines
}

// A listener that a reload keeps logs at the new level.
func TestLogOfKeptListener(t *testing.T) {
	l, lines := startWithTLS(t)
	fail := func() {
		conn, err := net.Dial("tcp", l.secure)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "no TLS\r\n")
		_, _ = io.Copy(io.Discard, conn)
	}
	fail()
	l.write(t, append(lines, "log: {format: text, level: debug}")...)
	if !l.reload(t) {
		t.Fatal("the configuration was refused")
	}
	fail()
	testserver.Wait(t, "the failure is logged", func() bool { return l.logged("TLS handshake failed") == 1 })
}

// WebSockets over HTTP/2 are announced once there are sites.
func TestWebSocketsOfNewSite(t *testing.T) {
	l, lines := startWithTLS(t)
	announced := func() (value uint32) {
		conn, err := tls.Dial("tcp", l.secure, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
			t.Fatal(err)
		}
		f, err := http2.NewFramer(io.Discard, conn).ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		value, _ = f.(*http2.SettingsFrame).Value(http2.SettingEnableConnectProtocol)
		return value
	}
	if announced() != 0 {
		t.Error("they are announced without a site")
	}
	l.write(t, append(lines, "proxy: {sites: [{hosts: [a.example], servers: ['http://127.0.0.1:9']}]}")...)
	if !l.reload(t) {
		t.Fatal("the configuration was refused")
	}
	if announced() != 1 {
		t.Error("they are not announced")
	}
}
