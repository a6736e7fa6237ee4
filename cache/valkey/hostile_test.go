package valkey_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/internal/testserver"
)

// hostile returns replies that no server sends, or not to these commands. The level must survive each of them
// as the only reply, after the true reply, and as the reply to a single command.
func hostile() map[string]string {
	const many = 100_000
	return map[string]string{
		"another reply":             "+OK\r\n+OK\r\n",
		"negative text":             "$-5\r\n",
		"a text of all memory":      "$9223372036854775807\r\n",
		"a text beyond all numbers": "$99999999999999999999999\r\n",
		"a large text":              "$100000000\r\n",
		"an array of all memory":    "*4611686018427387904\r\n",
		"a large array":             "*1000000000\r\n",
		"a negative array":          "*-5\r\n",
		"a negative map":            "%-1\r\n",
		"a map of all memory":       "%4611686018427387904\r\n",
		"a negative set":            "~-1\r\n",
		"arrays in arrays":          strings.Repeat("*1\r\n", many),
		"many arrays":               strings.Repeat("*1000\r\n", 8),
		"many texts":                "*1000\r\n" + strings.Repeat("$80000\r\n"+strings.Repeat("x", 80000)+"\r\n", 100),
		"attributes without end":    strings.Repeat("|1\r\n+a\r\n+b\r\n", many),
		"a subscription":            ">3\r\n+subscribe\r\n+x\r\n:1\r\n",
		"an end of a subscription":  ">3\r\n+unsubscribe\r\n+x\r\n:0\r\n",
		"an invalidation":           ">2\r\n+invalidate\r\n*1\r\n+x\r\n",
		"an empty push":             ">0\r\n",
		"a null push":               ">-1\r\n",
		"a push in an array":        "*2\r\n>2\r\n+invalidate\r\n_\r\n+x\r\n",
		"a chunked text":            "$?\r\n;5\r\nhello\r\n;0\r\n",
		"a chunk of all memory":     "$?\r\n;9223372036854775807\r\n",
		"a chunked map":             "%?\r\n+a\r\n.\r\n",
		"an end":                    ".\r\n",
		"a blob error":              "!5\r\nMOVED\r\n",
		"a line without end":        "+" + strings.Repeat("x", 64*many),
		"a number without end":      ":" + strings.Repeat("1", many),
		"a line without CR":         "+OK\n",
		"no type":                   "\r\n",
		"the web":                   "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"zeros":                     strings.Repeat("\x00", 100),
		"moved":                     "-MOVED\r\n",
		"moved to nothing":          "-MOVED 1\r\n",
		"moved, with a prefix":      "-ERR MOVED 1\r\n",
		"ask":                       "-ASK\r\n",
		"moved elsewhere":           "-MOVED 1 127.0.0.1:1\r\n",
		"ask elsewhere":             "-ASK 1 127.0.0.1:1\r\n",
		"tryagain":                  "-TRYAGAIN\r\n",
		"clusterdown":               "-CLUSTERDOWN\r\n",
		"loading":                   "-LOADING Redis is loading the dataset in memory\r\n",
		"readonly":                  "-READONLY You can't write against a read only replica.\r\n",
		"out of memory":             "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
		"no script":                 "-NOSCRIPT No matching script.\r\n",
		"no hello":                  "-ERR unknown command 'HELLO'\r\n",
		"an empty error":            "-\r\n",
		"null":                      "_\r\n",
		"null text":                 "$-1\r\n",
		"null array":                "*-1\r\n",
		"empty array":               "*0\r\n",
		"empty map":                 "%0\r\n",
		"empty text":                "$0\r\n\r\n",
		"number":                    ":9223372036854775807\r\n",
		"large number":              "(3492890328409238509324850943850943825024385\r\n",
		"true":                      "#t\r\n",
		"neither true nor false":    "#x\r\n",
		"booleans without ends":     "#xyz#xyz#xyz#xyz",
		"nulls without ends":        "_xy_xy_xy_xy",
		"infinity":                  ",inf\r\n",
		"verbatim text":             "=7\r\ntxt:abc\r\n",
		"array of nulls":            "*5\r\n_\r\n_\r\n_\r\n_\r\n_\r\n",
		"array of maps":             "*5\r\n%0\r\n%0\r\n%0\r\n%0\r\n%0\r\n",
		"array of numbers":          "*5\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n",
		"array of errors":           "*5\r\n-ERR a\r\n-ERR a\r\n-ERR a\r\n-ERR a\r\n-ERR a\r\n",
		"the last number":           "*4\r\n+18446744073709551615-0\r\n+e\r\n+----------------\r\n:1\r\n",
		"map of arrays":             "%1\r\n*0\r\n*0\r\n",
		"a log of nothing":          "*1\r\n*2\r\n+1-0\r\n_\r\n",
		"a log of odd fields":       "*1\r\n*2\r\n+1-0\r\n*1\r\n+e\r\n",
		"a log of another map":      "%1\r\n+x\r\n*1\r\n*0\r\n",
		"a cluster of nothing":      "*1\r\n*3\r\n:0\r\n:16383\r\n*0\r\n",
		"a cluster of all slots":    "*1\r\n*3\r\n:-9223372036854775808\r\n:9223372036854775807\r\n*2\r\n+127.0.0.1\r\n:1\r\n",
		"a cluster of no names":     "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n_\r\n:99999999\r\n",
		"nothing":                   "",
		"the begin of a text":       "$5\r\nhel",
		"the begin of an array":     "*4\r\n+1-0\r\n",
		"the end of the connection": end,
	}
}

const end = "the end"

// instead returns a lie that replaces the replies to a command, or all if command is "", or follows them if
// more is set.
func instead(data, command string, more bool) lie {
	return func(words []string, reply string) []byte {
		switch {
		case command != "" && words[0] != command:
			return []byte(reply)
		case data == end:
			return nil
		case more:
			return []byte(reply + data)
		default:
			return []byte(data)
		}
	}
}

// No reply of a server ends urnd, memory is bounded, and the level is used again when the server sends true
// replies.
func TestHostileReplies(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	server := testserver.StartRedis(t)
	memory, all := memoryOf(), hostile()
	t.Run("says", func(t *testing.T) {
		for where, command := range map[string]string{
			"all there is": "", "besides": "", "to HELLO": "HELLO", "to a question": "EVALSHA", "to a write": "EVAL",
			"about the log": "XREAD",
		} {
			t.Run(where, func(t *testing.T) {
				t.Parallel()
				b := used(t, server.Addr(), nil)
				lies := make(chan string, len(all))
				for name, sent := range all {
					if where != "about the log" || sent != "_\r\n" { // that would be the true reply
						lies <- name
					}
				}
				close(lies)
				var liars sync.WaitGroup
				for range 8 { // they wait for timeouts and probes, not for the CPU
					l := startLiar(t, listen(t), server.Addr())
					a := used(t, l.addr(), func(c *valkey.Config) { c.Timeout = time.Second / 2 })
					liars.Go(func() {
						for name := range lies {
							t.Run(name,
								func(t *testing.T) {
									surviveLie(t, a, b, l, instead(all[name], command, where == "besides"))
								})
						}
						if most := l.mostConns(); most > 2*mostConns {
							t.Errorf("there were %d connections at a time", most)
						}
					})
				}
				liars.Wait()
			})
		}
	})
	if grown := memoryOf() - memory; grown > 256<<20 {
		t.Errorf("memory has grown by %d MiB", grown>>20)
	}
}

// mostConns is the maximum number of connections of a client; during a replacement there are two clients.
const mostConns = 64

// surviveLie lets a liar lie to instance a, and requires that a survives and then shares with b.
func surviveLie(t *testing.T, a, b *instance, l *liar, message lie) {
	t.Helper()
	l.say(message)
	l.cut()
	n := 0
	until(t, func() bool {
		n++
		if got := a.get(fmt.Sprint(t.Name(), n), "own"); got.Value != "own" {
			t.Errorf("got %+v", got)
		}
		return l.said() > 0 || n > 2000
	})
	l.say(nil)
	backAgain(t, a, b, "then "+t.Name())
}

// backAgain waits until instance a uses the level again, as seen by b. It retries because a reply may have been
// lost.
func backAgain(t *testing.T, a, b *instance, key string) {
	t.Helper()
	a.await(func(s valkey.Stats) bool { return s.Used })
	n := 0
	until(t, func() bool {
		n++
		try := fmt.Sprint(key, n)
		b.get(try, "of b")
		return a.get(try, "of a").Value == "of b"
	})
}

// memoryOf returns the memory that the process has obtained from the system.
func memoryOf() int64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.Sys)
}

// A server that claims to be in a cluster, or a sentinel, is forgotten when it sends true replies.
func TestHostileDiscovery(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	server := testserver.StartRedis(t)
	host, port, _ := strings.Cut(server.Addr(), ":")
	hostPort := func(addr string) string {
		host, port, _ := strings.Cut(addr, ":")
		return fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(host), host, len(port), port)
	}
	slots := func(addr string) string {
		host, port, _ := strings.Cut(addr, ":")
		return "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n+" + host + "\r\n:" + port + "\r\n"
	}
	var nodes strings.Builder
	const many = 5000
	fmt.Fprintf(&nodes, "*%d\r\n", many)
	for n := range many {
		fmt.Fprintf(&nodes, "*3\r\n:%d\r\n:%d\r\n*2\r\n+127.0.%d.%d\r\n:1\r\n", n, n, n/256, n%256)
	}
	turns := 0
	for name, c := range map[string]struct {
		cluster func(l *liar) string // the reply to CLUSTER
		entry   func(l *liar) string // the reply to EVALSHA
	}{
		"itself":         {func(l *liar) string { return slots(l.addr()) }, nil},
		"another server": {func(*liar) string { return slots("127.0.0.1:1") }, nil},
		"thousands":      {func(*liar) string { return nodes.String() }, nil},
		"moved": {
			func(l *liar) string { return slots(l.addr()) },
			func(*liar) string { return "-MOVED\r\n" },
		},
		"moved to itself": {
			func(l *liar) string { return slots(l.addr()) },
			func(l *liar) string { return "-MOVED 1 " + l.addr() + "\r\n" },
		},
		"asks itself": {
			func(l *liar) string { return slots(l.addr()) },
			func(l *liar) string { return "-ASK 1 " + l.addr() + "\r\n" },
		},
		"moved around": {func(l *liar) string { return slots(l.addr()) }, func(l *liar) string {
			turns++
			return fmt.Sprintf("-MOVED 1 127.0.%d.%d:%s\r\n", turns/250, 1+turns%250,
				strings.TrimPrefix(l.addr(), "127.0.0.1:"))
		}},
		"moved to no port": {
			func(l *liar) string { return slots(l.addr()) },
			func(*liar) string { return "-MOVED 1 :::::\r\n" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere, err := net.Listen("tcp4", "0.0.0.0:0")
			if err != nil {
				t.Fatal(err)
			}
			l := startLiar(t, everywhere, server.Addr())
			l.say(func(words []string, reply string) []byte {
				switch {
				case words[0] == "CLUSTER":
					return []byte(c.cluster(l))
				case words[0] == "EVALSHA" && c.entry != nil:
					l.mu.Lock()
					defer l.mu.Unlock()
					return []byte(c.entry(l))
				}
				return []byte(reply)
			})
			a := newInstance(t, l.addr(), func(c *valkey.Config) { c.Timeout = time.Second / 2 })
			b := used(t, server.Addr(), nil)
			until(t, func() bool { return l.said() > 5 || c.entry == nil && l.said() > 0 })
			l.say(nil)
			backAgain(t, a, b, name)
			if most := l.mostConns(); most > 2*mostConns {
				t.Errorf("there were %d connections at a time", most)
			}
		})
	}
	for name, message := range map[string]string{
		"nothing": "*0\r\n", "a host": "*1\r\n+127.0.0.1\r\n", "null": "*-1\r\n", "a text": "+127.0.0.1\r\n",
		"nulls": "*2\r\n_\r\n_\r\n", "numbers": "*2\r\n:1\r\n:2\r\n", "another server": hostPort("127.0.0.1:1"),
		"a message": ">3\r\n+message\r\n++sentinel\r\n+x\r\n", "of all memory": "*4611686018427387904\r\n",
		"an error": "-MOVED\r\n",
		"more":     hostPort(host+":"+port) + "+OK\r\n",
	} {
		t.Run("a sentinel says "+name, func(t *testing.T) {
			truth := false
			l := startLiar(t, listen(t), server.Addr())
			l.say(func(words []string, reply string) []byte {
				switch {
				case words[0] == "SENTINEL" && truth:
					return []byte(hostPort(host + ":" + port))
				case words[0] == "SENTINEL":
					return []byte(message)
				}
				return []byte(reply)
			})
			a := newInstance(t, "", func(c *valkey.Config) { c.URL = "redis://" + l.addr() + "?master_set=names" })
			b := used(t, server.Addr(), nil)
			until(t, func() bool { return l.said() > 1 })
			l.mu.Lock()
			truth = true
			l.mu.Unlock()
			backAgain(t, a, b, name)
		})
	}
}

// SelfTest reports that a hostile server violates the protocol.
func TestTryHostile(t *testing.T) {
	for name, data := range hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, url := range []string{
				"redis://" + startFake(t, data),
				"redis://" + startFake(t, data) + "?master_set=names",
			} {
				if _, err := tried(t, func(c *valkey.Config) { c.URL = url }); err == nil {
					t.Errorf("%s: no error", url)
				}
			}
		})
	}
}

// Bits flipped in replies in transit do no harm.
func TestFlippedBits(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	server := testserver.StartRedis(t)
	l := startLiar(t, listen(t), server.Addr())
	a := used(t, l.addr(), func(c *valkey.Config) { c.Timeout = time.Second / 2 })
	b := used(t, server.Addr(), nil)
	a.put("key", "of b")
	const seed, replies = 1, 50
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, seed))
	l.say(func(_ []string, reply string) []byte {
		mu.Lock()
		defer mu.Unlock()
		flipped := []byte(reply)
		flipped[random.IntN(len(flipped))] ^= 1 << random.IntN(8)
		return flipped
	})
	n := 0
	until(t, func() bool {
		n++
		a.get(fmt.Sprint("own", n), "own")
		got := a.view.Load(t.Context(), "key", cache.AnyFresh, a.source("own", time.Minute, nil))
		if got.Value != "own" && got.Value != "of b" {
			t.Errorf("got %+v", got)
		}
		return l.said() > replies
	})
	l.say(nil)
	backAgain(t, a, b, "then")
}

// remote is a connection that appears to be to another host.
type remote struct{ net.Conn }

func (remote) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 6379} }

// A server on another host cannot cause connections to this host.
func TestNamedAddresses(t *testing.T) {
	server := testserver.StartRedis(t)
	l, beside := startLiar(t, listen(t), server.Addr()), startLiar(t, listen(t), server.Addr())
	var requested atomic.Int32
	beside.say(func(_ []string, reply string) []byte { requested.Add(1); return []byte(reply) })
	_, port, _ := strings.Cut(beside.addr(), ":")
	l.say(func(words []string, reply string) []byte {
		switch words[0] {
		case "CLUSTER":
			return []byte("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n+127.0.0.1\r\n:" + port + "\r\n")
		case "SENTINEL":
			return []byte("*2\r\n+127.0.0.1\r\n+" + port + "\r\n")
		}
		return []byte(reply)
	})
	for _, url := range []string{"redis://redis.example.org", "redis://redis.example.org?master_set=names"} {
		l.say(l.lie)
		a := newInstance(t, "", func(c *valkey.Config) {
			c.URL = url
			c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				if address != "redis.example.org:6379" {
					return new(net.Dialer).DialContext(ctx, network, address)
				}
				conn, err := new(net.Dialer).DialContext(ctx, network, l.addr())
				return remote{conn}, err
			}
		})
		awaitStatus(t, a, "loopback or link-local address in a reply")
		until(t, func() bool { return l.said() > 2 })
		if a.level.Stats().Used || requested.Load() != 0 {
			t.Errorf("%s: it sends %d requests to the neighboring address", url, requested.Load())
		}
	}
}

// Replies over TLS are checked too.
func TestHostileByTLS(t *testing.T) {
	ca, server := testserver.NewAuthority(t), testserver.StartRedis(t)
	pair, err := tls.X509KeyPair(ca.Issue(time.Hour, "127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	l := startLiar(t, tls.NewListener(listen(t),
		&tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}), server.Addr())
	a, b := used(t, "", secured(l.addr(), ca.PEM)), used(t, server.Addr(), nil)
	l.say(instead("+OK\r\n+OK\r\n", "", false))
	a.get("key", "own")
	a.await(func(s valkey.Stats) bool { return !s.Used })
	awaitStatus(t, a, "protocol violation")
	l.say(nil)
	backAgain(t, a, b, "key")
}

// A server that has skipped a reply answers each query with the reply to the preceding one: that connection is
// closed.
func TestSkippedReply(t *testing.T) {
	server := testserver.StartRedis(t)
	l := startLiar(t, listen(t), server.Addr())
	a, b := used(t, l.addr(), func(c *valkey.Config) { c.Timeout = time.Second / 10 }), used(t, server.Addr(), nil)
	l.say(instead("", "EVALSHA", false))
	a.get("key", "own")
	until(t, func() bool { return l.said() > 0 })
	l.say(nil)
	backAgain(t, a, b, "key")
}
