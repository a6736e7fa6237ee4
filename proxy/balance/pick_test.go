package balance_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/balance"
	"github.com/urnd/urnd/uri"
)

func parse(t testing.TB, text string) uri.URI {
	t.Helper()
	u, err := uri.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// servers returns servers with the hosts a, b, c and so on, with these weights; a negative weight is drained.
func servers(t testing.TB, weights ...int) (all []balance.Server) {
	for i, weight := range weights {
		u := parse(t, "http://"+string(rune('a'+i)))
		all = append(all, balance.Server{URL: u, Weight: max(weight, -weight), Drained: weight < 0})
	}
	return all
}

func newPool(t testing.TB, config balance.Config) *balance.Pool {
	t.Helper()
	if config.Now == nil {
		config.Now = time.Now
	}
	return balance.New(config)
}

// failing returns a Config.Failing for hosts.
func failing(hosts string) func(string) bool {
	return func(server string) bool { return strings.Contains(hosts, strings.TrimPrefix(server, "http://")) }
}

// pick picks a server, releases it, and returns its host, "-" for none.
func pick(p *balance.Pool, key string, tried *balance.Tried) string {
	picked, ok := p.Pick(key, tried)
	defer picked.Release()
	if !ok {
		return "-"
	}
	return picked.Server.Hostname()
}

// picks returns the hosts of n requests without retries.
func picks(p *balance.Pool, n int) string {
	var all strings.Builder
	for range n {
		all.WriteString(pick(p, "", nil))
	}
	return all.String()
}

func TestTurn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		weights []int
		failing string
		want    string
	}{
		{"one", []int{1}, "", "aaa"},
		{"no weights are one", []int{0, 0}, "", "abab"},
		{"by weight, spread", []int{5, 1, 1}, "", "aabacaaaabacaa"},
		{"without the drained", []int{1, -9, 1}, "", "acac"},
		{"drained alone", []int{-1, -1}, "", "--"},
		{"none", nil, "", "-"},
		{"without the failing", []int{1, 1, 1}, "b", "acacac"},
		{"failing alone", []int{1}, "a", "aa"},
		{"one is drained, the other fails", []int{1, -1}, "a", "aa"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPool(t, balance.Config{Servers: servers(t, c.weights...), Failing: failing(c.failing)})
			if got := picks(p, len(c.want)); got != c.want {
				t.Errorf("picked %s, want %s", got, c.want)
			}
		})
	}
}

// TestTurnShares counts picks over complete rounds, in which each server is picked exactly as often as its
// weight.
func TestTurnShares(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		weights []int
		failing string
		rounds  int
		want    string
	}{
		{[]int{5, 3, 2}, "", 1, "a5 b3 c2"},
		{[]int{5, 3, 2}, "", 100, "a500 b300 c200"},
		{[]int{7, 11, 13, 1}, "", 3, "a21 b33 c39 d3"},
		{[]int{6, 3, 1}, "a", 40, "a0 b300 c100"},
		{[]int{1, 1, 1, 1}, "abcd", 1000, "a1000 b1000 c1000 d1000"},
	} {
		t.Run(fmt.Sprint(c.weights, c.failing), func(t *testing.T) {
			t.Parallel()
			p := newPool(t, balance.Config{Servers: servers(t, c.weights...), Failing: failing(c.failing)})
			total := 0
			for _, weight := range c.weights {
				total += weight
			}
			got := picks(p, total*c.rounds)
			counts := make([]string, len(c.weights))
			for i := range counts {
				host := string(rune('a' + i))
				counts[i] = fmt.Sprint(host, strings.Count(got, host))
			}
			if joined := strings.Join(counts, " "); joined != c.want {
				t.Errorf("picked %s, want %s", joined, c.want)
			}
		})
	}
}

func TestLeast(t *testing.T) {
	t.Parallel()
	p := newPool(t, balance.Config{Servers: servers(t, 1, 1, 2), Method: balance.LeastRequests})
	var held []*balance.Pick
	hold := func() string {
		picked, _ := p.Pick("", nil)
		held = append(held, picked)
		return picked.Server.Hostname()
	}
	got := ""
	for range 8 {
		got += hold()
	}
	if a, b, c := strings.Count(got, "a"), strings.Count(got, "b"), strings.Count(got, "c"); a != 2 || b != 2 ||
		c != 4 {
		t.Errorf("8 outstanding requests are %s, want 2, 2 and 4", got)
	}
	for i, picked := range held {
		if got[i] == 'b' {
			picked.Release()
			picked.Release() // a second Release has no effect
		}
	}
	if got := hold() + hold(); got != "bb" {
		t.Errorf("picked %s, want the idle server b twice", got)
	}
	for _, picked := range held {
		picked.Release()
	}
	if got := picks(p, 400); strings.Count(got, "a") != 100 || strings.Count(got, "c") != 200 {
		t.Errorf("idle servers are not picked by weight: %s", got)
	}
}

// hashed returns the server for each of n keys.
func hashed(p *balance.Pool, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = pick(p, fmt.Sprintf("/path/%d?query", i), nil)
	}
	return all
}

func TestHash(t *testing.T) {
	t.Parallel()
	const keys = 20_000
	configured := servers(t, 1, 2, 3, 4)
	before := hashed(newPool(t, balance.Config{Servers: configured, Method: balance.Hash}), keys)
	t.Run("shares", func(t *testing.T) {
		t.Parallel()
		for i, host := range []string{"a", "b", "c", "d"} {
			count, want := strings.Count(strings.Join(before, ""), host), keys*(i+1)/10
			if count < want*95/100 || count > want*105/100 {
				t.Errorf("%s has %d keys, want about %d", host, count, want)
			}
		}
	})
	t.Run("same again, in another order", func(t *testing.T) {
		t.Parallel()
		reversed := slices.Clone(configured)
		slices.Reverse(reversed)
		again := hashed(newPool(t, balance.Config{Servers: reversed, Method: balance.Hash}), keys)
		if !slices.Equal(again, before) {
			t.Error("keys have other servers in another pool")
		}
	})
	for name, change := range map[string]func(*balance.Config){
		"leaves":  func(c *balance.Config) { c.Servers = slices.Delete(slices.Clone(c.Servers), 1, 2) },
		"drained": func(c *balance.Config) { c.Servers = slices.Clone(c.Servers); c.Servers[1].Drained = true },
		"failing": func(c *balance.Config) { c.Failing = failing("b") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := balance.Config{Servers: configured, Method: balance.Hash}
			change(&config)
			moved := map[string]int{}
			for i, host := range hashed(newPool(t, config), keys) {
				if host == "b" {
					t.Fatal("b is picked")
				}
				if host != before[i] {
					moved[before[i]]++
				}
			}
			if hosts := slices.Collect(maps.Keys(moved)); !slices.Equal(hosts, []string{"b"}) {
				t.Errorf("keys of %v moved, want those of b alone", hosts)
			}
		})
	}
}

func TestTried(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		weights []int
		failing string
		retries int
		want    string
	}{
		{"each once", []int{1, 1, 1}, "", 0, "abc-"},
		{"up to the bound", []int{1, 1, 1}, "", 1, "ab-"},
		{"a bound above all", []int{1, 1}, "", 9, "ab-"},
		{"one", []int{1}, "", 0, "a-"},
		{"failing last", []int{9, 1, 1}, "a", 0, "bca-"},
		{"never drained", []int{1, -1, 1}, "", 0, "ac-"},
	} {
		for _, method := range []balance.Method{balance.RoundRobin, balance.LeastRequests, balance.Hash} {
			t.Run(fmt.Sprint(c.name, " ", method), func(t *testing.T) {
				t.Parallel()
				p := newPool(t, balance.Config{
					Servers: servers(t, c.weights...), Method: method, Failing: failing(c.failing), Retries: c.retries,
				})
				var tried balance.Tried
				got := ""
				for range c.want {
					got += pick(p, "key", &tried)
				}
				want := c.want
				if method == balance.Hash { // Hash has its own order
					want = sorted(want)
					if c.failing != "" && !strings.HasSuffix(got, c.failing+"-") {
						t.Errorf("tried %s, want %s last", got, c.failing)
					}
					if c.retries == 1 { // any two
						want, got = "2", fmt.Sprint(strings.Index(got, "-"))
					} else {
						got = sorted(got)
					}
				}
				if got != want {
					t.Errorf("tried %s, want %s", got, want)
				}
			})
		}
	}
}

func sorted(text string) string {
	bytes := []byte(text)
	slices.Sort(bytes)
	return string(bytes)
}

func TestTooManyServers(t *testing.T) {
	t.Parallel()
	var all []balance.Server
	for i := range balance.MaxServers + 1 {
		all = append(all, balance.Server{URL: parse(t, fmt.Sprintf("http://h%d", i)), Weight: balance.MaxWeight + 1})
	}
	p := newPool(t, balance.Config{Servers: all})
	var tried balance.Tried
	count := 0
	for pick(p, "", &tried) != "-" {
		count++
	}
	if status := p.Status(); count != balance.MaxServers || len(status) != count ||
		status[0].Weight != balance.MaxWeight {
		t.Errorf("%d servers are picked, %d have a status, their weight is %d", count, len(status), status[0].Weight)
	}
}

func TestStatusCounts(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	p := newPool(t, balance.Config{
		Servers: servers(t, 2, -3), Failing: failing("a"), Now: func() time.Time { return start },
	})
	held, _ := p.Pick("", nil)
	picks(p, 2)
	p.Report(held.Server, context.DeadlineExceeded)
	p.Report(held.Server, nil)
	p.Report(parse(t, "http://other"), context.DeadlineExceeded)
	want := []balance.ServerStatus{
		{
			URL: "http://a", Weight: 2, State: balance.Up, Since: start, Failing: true,
			Outstanding: 1, Requests: 3, Failures: 1,
		},
		{URL: "http://b", Weight: 3, Drained: true, State: balance.Drained, Since: start},
	}
	if got := p.Status(); !slices.Equal(got, want) {
		t.Errorf("status is\n%+v, want\n%+v", got, want)
	}
	held.Release()
	if got := p.Status()[0].Outstanding; got != 0 {
		t.Errorf("%d requests are outstanding after Release", got)
	}
}

// TestConcurrent picks, retries, releases and reports concurrently with probes, and checks the counters.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	for _, method := range []balance.Method{balance.RoundRobin, balance.LeastRequests, balance.Hash} {
		t.Run(fmt.Sprint(method), func(t *testing.T) {
			t.Parallel()
			var probes atomic.Int64
			p := newPool(t, balance.Config{
				Servers: servers(t, 1, 2, 3, -1), Method: method, Failing: failing("c"),
				HealthCheck: balance.HealthCheck{Interval: time.Millisecond, SlowStart: 5 * time.Millisecond},
			})
			p.SetProbe(func(context.Context, uri.URI, string) (int, error) {
				return int(200 + probes.Add(1)%6/3*303), nil
			})
			ctx, stop := context.WithCancel(t.Context())
			var running, probing sync.WaitGroup
			probing.Go(func() { p.Run(ctx) })
			var picked, failed atomic.Int64
			const clients, requests = 8, 300
			for client := range clients {
				running.Go(func() {
					for i := range requests {
						var tried balance.Tried
						for {
							pick, ok := p.Pick(fmt.Sprint(client, i), &tried)
							if !ok {
								break
							}
							picked.Add(1)
							failed.Add(1)
							p.Report(pick.Server, context.Canceled)
							var twice sync.WaitGroup
							twice.Go(pick.Release)
							pick.Release()
							twice.Wait()
							if !p.MayRetry() {
								break
							}
						}
						p.Status()
					}
				})
			}
			running.Wait()
			stop()
			probing.Wait()
			var requested, failures int64
			for _, s := range p.Status() {
				requested += s.Requests
				failures += s.Failures
				if s.Outstanding != 0 || s.Drained && s.Requests != 0 {
					t.Errorf("%s has %d outstanding requests of %d", s.URL, s.Outstanding, s.Requests)
				}
			}
			if requested != picked.Load() || failures != failed.Load() || requested < clients*requests {
				t.Errorf("%d requests and %d failures, want %d and %d", requested, failures, picked.Load(),
					failed.Load())
			}
		})
	}
}

func TestPickAllocates(t *testing.T) {
	for _, method := range []balance.Method{balance.RoundRobin, balance.LeastRequests, balance.Hash} {
		p := newPool(t, balance.Config{Servers: servers(t, 1, 2, 3), Method: method, Failing: failing("c")})
		if allocated := testing.AllocsPerRun(100, func() {
			var tried balance.Tried
			pick, _ := p.Pick("key", &tried)
			pick.Release()
		}); allocated != 0 {
			t.Errorf("method %d: a pick allocates %v times", method, allocated)
		}
	}
}

func BenchmarkPick(b *testing.B) {
	for i, name := range []string{"turn", "least", "hash"} {
		method := balance.Method(i)
		for _, n := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				p := newPool(b, balance.Config{Servers: servers(b, make([]int, n)...), Method: method})
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						var tried balance.Tried
						pick, _ := p.Pick("/some/path/of/usual/length", &tried)
						pick.Release()
					}
				})
			})
		}
	}
}
