package tunnel

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"testing/iotest"
	"time"
)

// helloOf returns the first bytes that a TLS client sends.
func helloOf(t testing.TB, config *tls.Config) []byte {
	t.Helper()
	client, server := net.Pipe()
	defer server.Close()
	go func() {
		_ = tls.Client(client, config).Handshake()
		_ = client.Close()
	}()
	head := make([]byte, 5)
	if _, err := io.ReadFull(server, head); err != nil {
		t.Fatal(err)
	}
	record := make([]byte, binary.BigEndian.Uint16(head[3:]))
	if _, err := io.ReadFull(server, record); err != nil {
		t.Fatal(err)
	}
	return append(head, record...)
}

// echConfigs returns a list of one ECHConfig (RFC 9849 section 4) with a public name.
func echConfigs(t testing.TB, public string) []byte {
	t.Helper()
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	contents := []byte{1, 0, 0x20, 0, 32}
	contents = append(contents, key.PublicKey().Bytes()...)
	contents = append(contents, 0, 4, 0, 1, 0, 1, 64, byte(len(public)))
	contents = append(append(contents, public...), 0, 0)
	config := binary.BigEndian.AppendUint16([]byte{0xfe, 0x0d}, uint16(len(contents)))
	config = append(config, contents...)
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(config))), config...)
}

// split splits a record into records of at most size bytes: RFC 8446 section 5.1 allows to fragment a message.
func split(record []byte, size int) (all []byte) {
	for rest := record[5:]; len(rest) > 0; {
		part := rest[:min(size, len(rest))]
		rest = rest[len(part):]
		all = append(binary.BigEndian.AppendUint16(append(all, record[:3]...), uint16(len(part))), part...)
	}
	return all
}

// The first bytes of a client are inspected before the server gets a byte, however fragmented, and reach the
// server unchanged.
func TestLook(t *testing.T) {
	named := helloOf(t, &tls.Config{ServerName: "www.example", InsecureSkipVerify: true})
	encrypted := &tls.Config{
		ServerName:                     "inner.example",
		EncryptedClientHelloConfigList: echConfigs(t, "outer.example"), MinVersion: tls.VersionTLS13,
	}
	isNamed := Hello{IsTLS: true, ServerName: "www.example"}
	for name, tt := range map[string]struct {
		sent  []byte
		piece int // bytes per write; 0 for all
		early int // bytes received with CONNECT
		want  Hello
	}{
		"at once":               {named, 0, 0, isNamed},
		"with CONNECT":          {named, 0, len(named), isNamed},
		"in part with CONNECT":  {named, 0, 3, isNamed},
		"byte by byte":          {named, 1, 0, isNamed},
		"in several records":    {split(named, 7), 0, 0, isNamed},
		"in records, in pieces": {split(named, 20), 9, 11, isNamed},
		"with more behind it":   {append(named[:len(named):len(named)], "more"...), 0, 0, isNamed},
		"without a name":        {helloOf(t, &tls.Config{InsecureSkipVerify: true}), 0, 0, Hello{IsTLS: true}},
		"encrypted": {
			helloOf(t, encrypted), 0, 0,
			Hello{IsTLS: true, ServerName: "outer.example", Encrypted: true},
		},
		// OpenSSL reads it.
		"behind an empty record": {append([]byte{22, 3, 1, 0, 0}, named...), 0, 0, Hello{Unreadable: true}},
		// Go's servers skip it.
		"behind an alert":         {append([]byte{21, 3, 1, 0, 2, 1, 90}, named...), 0, 0, isNamed},
		"behind another record":   {append([]byte{20, 3, 3, 0, 1, 1}, named...), 1, 0, Hello{Unreadable: true}},
		"an alert alone":          {[]byte{21, 3, 1, 0, 2, 2, 80}, 0, 0, Hello{Unreadable: true}},
		"SSH":                     {[]byte("SSH-2.0-OpenSSH_9.2\r\n"), 0, 0, Hello{}},
		"one byte":                {[]byte("a"), 0, 0, Hello{}},
		"a hello that breaks off": {named[:50], 0, 0, Hello{Unreadable: true}},
		"no hello in a record":    {[]byte{22, 3, 1, 0, 4, 2, 0, 0, 0}, 0, 0, Hello{Unreadable: true}},
		"too long a record": {
			append([]byte{22, 3, 1, 0xff, 0xff}, make([]byte, 70_000)...), 0, 0,
			Hello{Unreadable: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			client, near := pair(t)
			server, far := pair(t)
			looked := make(chan Hello, 2)
			tunnels := New(time.Hour, time.Now)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				tunnels.Relay(t.Context(), near, tt.sent[:tt.early], far, func(h Hello) error {
					looked <- h
					return nil
				})
			}()
			go func() {
				for rest := tt.sent[tt.early:]; len(rest) > 0; {
					n := len(rest)
					if tt.piece > 0 {
						n = min(n, tt.piece)
					}
					if _, err := client.Write(rest[:n]); err != nil {
						return
					}
					rest = rest[n:]
				}
				_ = client.(*net.TCPConn).CloseWrite()
			}()
			got, err := io.ReadAll(server)
			if err != nil || string(got) != string(tt.sent) {
				t.Errorf("the server got %d bytes of %d, %v", len(got), len(tt.sent), err)
			}
			if hello := <-looked; hello != tt.want || len(looked) > 0 {
				t.Errorf("it begins with %+v, want %+v", hello, tt.want)
			}
			_ = server.Close()
			<-ended
		})
	}
}

// A tunnel that is denied by its first bytes closes both sides, and the server gets nothing.
func TestLookRefuses(t *testing.T) {
	client, near := pair(t)
	server, far := pair(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		New(time.Hour, time.Now).Relay(t.Context(), near, nil, far, func(Hello) error { return errors.New("refused") })
	}()
	if _, err := client.Write([]byte("GET / HTTP/1.0\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(server); len(got) > 0 { // the error is that of a reset, or nil
		t.Errorf("the server got %q", got)
	}
	if got, _ := io.ReadAll(client); len(got) > 0 {
		t.Errorf("the client got %q", got)
	}
	<-ended
}

// If the server speaks first, the client gets its data before sending any; a client that closes without a
// byte is not inspected.
func TestLookDoesNotBlock(t *testing.T) {
	client, near := pair(t)
	server, far := pair(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		New(time.Hour, time.Now).Relay(t.Context(), near, nil, far, func(Hello) error {
			t.Error("it was looked at")
			return nil
		})
	}()
	if _, err := server.Write([]byte("220 mail.example ESMTP\r\n")); err != nil {
		t.Fatal(err)
	}
	greeting := make([]byte, 24)
	if _, err := io.ReadFull(client, greeting); err != nil || string(greeting) != "220 mail.example ESMTP\r\n" {
		t.Errorf("%q, %v", greeting, err)
	}
	_ = client.(*net.TCPConn).CloseWrite()
	if got, err := io.ReadAll(server); err != nil || len(got) > 0 {
		t.Errorf("the server got %q, %v", got, err)
	}
	_ = server.Close()
	<-ended
}

// Whatever a client sends reaches the server unchanged, and inspection terminates.
func FuzzLook(f *testing.F) {
	named := helloOf(f, &tls.Config{ServerName: "www.example", InsecureSkipVerify: true})
	f.Add(named, 0)
	f.Add(split(named, 3), 9)
	f.Add([]byte{22}, 1)
	f.Add([]byte("GET / HTTP/1.1\r\n"), 2)
	f.Fuzz(func(t *testing.T, sent []byte, early int) {
		early = min(max(early, 0), len(sent))
		in := bytes.NewReader(sent[early:])
		from := side{Reader: iotest.OneByteReader(in), early: sent[:early], check: func(Hello) error { return nil }}
		if err := (&activity{now: time.Now}).checkHello(t.Context(), &from); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(in)
		if got := string(from.early) + string(rest); err != nil || got != string(sent) && len(sent) > 0 {
			t.Errorf("%q arrives as %q, %v", sent, got, err)
		}
	})
}
