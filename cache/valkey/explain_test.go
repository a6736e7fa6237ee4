package valkey_test

import (
	"context"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/internal/testserver"
)

// Errors of the server or the settings are explained, both by SelfTest and to Report.
func TestExplain(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	ca, other := testserver.NewAuthority(t), testserver.NewAuthority(t)
	server := testserver.StartRedisTLS(t, ca, "--requirepass", "correct horse")
	const old = "%3\r\n+server\r\n+redis\r\n+version\r\n+6.0.16\r\n+proto\r\n:3\r\n"
	frozen := testserver.StartRedis(t)
	frozen.Freeze()
	t.Cleanup(frozen.Thaw)
	open := testserver.StartRedis(t)
	_, port, _ := strings.Cut(server.TLSAddr(), ":")
	at := func(url string) func(*valkey.Config) {
		return func(c *valkey.Config) { c.URL, c.CA, c.Password = url, ca.PEM, password }
	}
	for name, c := range map[string]struct {
		change func(*valkey.Config)
		want   string
	}{
		"no password": {
			func(c *valkey.Config) { c.URL = "redis://" + server.Addr() },
			"wrong or missing user or password",
		},
		"wrong password": {
			func(c *valkey.Config) {
				c.URL, c.Password = "redis://"+server.Addr(), func() (string, error) { return "battery staple", nil }
			}, "wrong or missing user or password",
		},
		"wrong user": {at("redis://nobody@" + server.Addr()), "wrong or missing user or password"},
		"no TLS":     {at("rediss://" + server.Addr()), "no TLS at this port"},
		"TLS":        {at("redis://" + server.TLSAddr()), "for TLS use rediss: instead of redis:"},
		"authority": {
			func(c *valkey.Config) { at("rediss://" + server.TLSAddr())(c); c.CA = other.PEM },
			"server certificate of an unknown authority",
		},
		"host name":   {at("rediss://localhost:" + port), "server certificate for another name"},
		"too old":     {at("redis://" + startFake(t, old)), "too old"},
		"no commands": {at("redis://" + startFake(t, "-ERR unknown command\r\n")), "too old, or without required commands"},
		"web server": {
			at("redis://" + startFake(t, "HTTP/1.1 400 Bad Request\r\n\r\n")),
			"not a Valkey or Redis server",
		},
		"no database":  {at("redis://" + server.Addr() + "/99"), "no database of this number"},
		"no server":    {at("redis://127.0.0.1:1"), "connection refused at this address and port"},
		"no such host": {at("redis://redis.invalid"), "server name lookup failed"},
		"hangs":        {at("redis://" + frozen.Addr()), "timed out"},
		"slow":         {func(c *valkey.Config) { c.URL, c.Timeout = open.URL(), time.Nanosecond }, "timed out"},
	} {
		t.Run(name, func(t *testing.T) {
			i := newInstance(t, server.Addr(), c.change)
			awaitStatus(t, i, c.want)
			_, err := tried(t, c.change)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "staple") {
				t.Errorf("trying it says %v", err)
			}
		})
	}
	used(t, "", at("rediss://"+server.TLSAddr())).put("key", "value")
	if found, err := tried(t, at("rediss://"+server.TLSAddr())); err != nil || found.Name != "redis" ||
		found.Version == "" || found.RTT == 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// tried calls SelfTest on a server.
func tried(t *testing.T, change func(*valkey.Config)) (valkey.ServerInfo, error) {
	t.Helper()
	c := valkey.Config{
		Secret: []byte(secret), Prefix: "urnd", Timeout: 5 * time.Second, Now: time.Now,
		Dial: new(net.Dialer).DialContext,
	}
	change(&c)
	level, err := valkey.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer level.Close()
	ctx, cancel := context.WithTimeout(t.Context(), testserver.Timeout)
	defer cancel()
	return level.SelfTest(ctx)
}

// The documented permissions suffice, and SelfTest leaves nothing at the server.
func TestRights(t *testing.T) {
	server := testserver.StartRedis(t)
	server.Do(append([]string{"ACL", "SETUSER", "urnd", "on", ">correct horse"},
		strings.Fields(documentedRights(t))...)...)
	change := func(c *valkey.Config) { c.URL, c.Password = "redis://urnd@"+server.Addr(), password }
	if _, err := tried(t, change); err != nil {
		t.Error(err)
	}
	if n := server.Do("DBSIZE"); n != ":0\r\n" {
		t.Errorf("it leaves keys: %q", n)
	}
	bound := used(t, "", change)
	bound.put("key", "value")
	if err := bound.purge(valkey.Purge{Kind: "name", Text: "key"}); err != nil {
		t.Error(err)
	}
	bound.put("key", "value")
	server.Do("ACL", "SETUSER", "urnd", "-xrange")
	if _, err := tried(t, change); err == nil ||
		!strings.Contains(err.Error(), "may not run commands that urnd requires") {
		t.Errorf("without a right: %v", err)
	}
}

func TestCheck(t *testing.T) {
	for url, ok := range map[string]bool{
		"redis://a": true, "rediss://user@a:1/3": true, "valkey://a?addr=b:1&addr=c:2": true,
		"redis://a?master_set=m": true,
		"":                       false, "a": false, "http://a": false, "redis://": false, "redis://u:secret@a": false,
		"redis://a/b":             false,
		"redis://a/-1":            false,
		"redis://a?skip_verify=1": false, "redis://a b": false,
	} {
		if err := valkey.CheckURL(url); (err == nil) != ok || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// documentedRights returns the permissions of the user urnd in docs/scale.md.
func documentedRights(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "The user needs `")
	rights, _, _ := strings.Cut(after, "`")
	return rights
}

func password() (string, error) { return "correct horse", nil }

// startFake starts a server that sends the same reply to everything.
func startFake(t *testing.T, reply string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				buffer := make([]byte, 4096)
				for n, err := conn.Read(buffer); err == nil; n, err = conn.Read(buffer) {
					for range strings.Count(string(buffer[:n]), "*") {
						if _, err := conn.Write([]byte(reply)); err != nil {
							return
						}
					}
				}
			})
		}
	})
	t.Cleanup(func() { _ = listener.Close(); running.Wait() })
	return listener.Addr().String()
}
