package adversary

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/urnd/urnd/internal/testserver"
)

// TestPeers runs the attacks between clients against other caches for comparison: it shows what can be expected
// of a cache, and whether these tests are correct. It runs if ADVERSARY_PEERS is set; with "list" it also
// prints each failed attack.
func TestPeers(t *testing.T) {
	mode := os.Getenv("ADVERSARY_PEERS")
	if mode == "" {
		t.Skip("ADVERSARY_PEERS is not set")
	}
	starts := map[string]func(*testing.T, *arena){"nginx": nginxBefore, "Squid": squidBefore, "Varnish": varnishBefore}
	names := slices.Sorted(maps.Keys(starts))
	counts := make(map[string]map[string]string) // by family and peer
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			a, err := newArena()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(a.origin.close)
			starts[name](t, a)
			for family, verdicts := range a.playPeer(t.Context()) {
				if counts[family] == nil {
					counts[family] = make(map[string]string)
				}
				one := row{verdicts: verdicts}
				counts[family][name] = fmt.Sprintf("%d of %d", one.survived(), len(verdicts))
				for _, v := range verdicts {
					if v.failure != nil && mode == "list" {
						t.Logf("FAILED %s", v)
					}
				}
			}
		})
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "survived\t"+strings.Join(names, "\t")+"\t")
	for _, family := range clientsFamilies() {
		if family.urndOnly {
			continue
		}
		fmt.Fprint(table, family.name+"\t")
		for _, name := range names {
			fmt.Fprint(table, counts[family.name][name]+"\t")
		}
		fmt.Fprintln(table)
	}
	_ = table.Flush()
	t.Log("\n" + text.String())
}

// playPeer runs all attacks against another proxy and returns the verdicts by family.
func (a *arena) playPeer(ctx context.Context) map[string][]verdict {
	verdicts := make(map[string][]verdict)
	c := category{workers: 12}
	all := a.attacks()
	for _, family := range clientsFamilies() {
		one := slices.DeleteFunc(slices.Clone(all), func(p payload) bool { return p.family != family.name })
		if !family.urndOnly {
			verdicts[family.name] = c.playFamily(ctx, one)
		}
	}
	return verdicts
}

// nginxBefore starts nginx with a cache that collapses requests, as recommended by its documentation.
func nginxBefore(t *testing.T, a *arena) {
	var upstreams strings.Builder
	upstreams.WriteString("proxy_cache_path web/cache keys_zone=cache:16m max_size=512m use_temp_path=off;\n")
	for i := range 2 * pairs {
		fmt.Fprintf(&upstreams, "upstream %s { server %s; keepalive 8; }\n", siteName(i), a.origin.address(i))
	}
	lock := int(a.collapse.Seconds())
	server := testserver.StartNginxProxy(t, testserver.OpenFolder(t), upstreams.String(), fmt.Sprintf(`location / {
		proxy_pass http://$host;
		proxy_http_version 1.1;
		proxy_set_header Host $host;
		proxy_set_header Connection "";
		proxy_cache cache;
		proxy_cache_lock on;
		proxy_cache_lock_timeout %ds;
		proxy_cache_use_stale updating error timeout;
		proxy_cache_background_update on;
	}`, lock))
	a.service = server.Addr()
}

// varnishBefore starts Varnish with its built-in rules.
func varnishBefore(t *testing.T, a *arena) {
	var backends, choice strings.Builder
	for i := range 2 * pairs {
		fmt.Fprintf(&backends, "backend b%d { .host = \"%s\"; .port = \"%s\"; }\n", i, originHost,
			portOf(a.origin.address(i)))
		fmt.Fprintf(&choice, "if (req.http.host ~ \"(?i)^%s[.]?(:|$)\") { set req.backend_hint = b%d; }\n",
			siteName(i), i)
	}
	// Varnish adds the address of the client, which shared responses must not depend on.
	vcl := backends.String() + "sub vcl_recv {\nunset req.http.X-Forwarded-For;\n" + choice.String() + "}\n"
	a.service = testserver.StartVarnish(t, testserver.OpenFolder(t), vcl).Addr()
}

// squidBefore starts Squid as a gateway for sites and as a forward proxy.
func squidBefore(t *testing.T, a *arena) {
	dir := testserver.OpenFolder(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	sites := listener.Addr().String()
	_ = listener.Close()
	var hosts strings.Builder
	lines := []string{
		"http_access allow all", "http_port " + sites + " accel vhost name=sites", "acl sites myportname sites",
		"never_direct allow sites",
		"collapsed_forwarding on", "forwarded_for transparent", "hosts_file " + filepath.Join(dir, "hosts"),
		"maximum_object_size_in_memory 1 MB",
	}
	for i := range 2 * pairs {
		fmt.Fprintf(&hosts, "%s %s\n", originHost, forwardName(i))
		lines = append(lines, fmt.Sprintf(
			"cache_peer %s parent %s 0 no-query no-digest originserver name=b%d", originHost,
			portOf(a.origin.address(i)), i,
		),
			fmt.Sprintf("acl h%d dstdomain %s", i, siteName(i)),
			fmt.Sprintf("cache_peer_access b%d allow h%d", i, i), fmt.Sprintf("cache_peer_access b%d deny all", i))
	}
	if err := os.WriteFile(filepath.Join(dir, "hosts"), []byte(hosts.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	a.service, a.forward = sites, testserver.StartSquid(t, dir, lines...).Addr()
}
