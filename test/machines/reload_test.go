//go:build e2e

package machines

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

func TestReloadUnderTraffic(t *testing.T) {
	t.Parallel()
	listen := "listen: {service: '" + freeAddress(t) + "', admin: '" + freeAddress(t) + "'}"
	l := newFileDaemon(t, listen)
	l.serve(t, withoutGC)
	l.ready(t)
	reloadUnderTraffic(t, l, listen, func() [2]int {
		_, count, _ := strings.Cut(urndtest.Send(t, "GET http://"+l.admin+"/metrics", "").Body, "\ngo_goroutines ")
		var goroutines int
		_, _ = fmt.Sscan(count, &goroutines)
		return [2]int{goroutines, l.descriptors(t)}
	})
	l.expectMetrics(t, `config_reloads_total{outcome="success"} 84`, `config_reloads_total{outcome="failure"} 21`)
}

func TestReloadRefused(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken, free := listener.Addr().String(), freeAddress(t)
	l := newFileDaemon(t, `listen: {service: "127.0.0.1:0", admin: "127.0.0.1:0"}`)
	l.serve(t, withoutGC)
	l.ready(t)
	before := [2]string{socketAt(t, l.url[len("http://"):]), socketAt(t, l.admin)}
	for i, tt := range []struct{ line, message string }{
		{"dns: {timout: 1s}", "dns.timout: unknown key; did you mean dns.timeout?"},
		{"limits: {header: 1KiB}", "limits.header: "},
		{"access: {proxy_users: /nowhere}", "access.proxy_users: reading the file: no such file"},
		{
			"log: {format: text, access: [{file: /nowhere/access}]}",
			"log.access.0.file: open /nowhere/access: no such file",
		},
		{
			"listen: {service: '" + taken + "', admin: ''}",
			"listening for http: listen tcp " + taken + ": bind: address already in use",
		},
		{"listen: {service: '" + free + "', admin: '" + taken + "'}", "listening for admin: listen tcp " + taken},
		{
			"listen: {service: '127.0.0.1:0', admin: '', tls: '127.0.0.1:0'}\ntls: {certificate: /nowhere, key: " +
				"/nowhere}",
			"tls.certificate and tls.key: open /nowhere: no such file",
		},
		{"urn: {accept: [", "is not closed"},
	} {
		l.write(t, "namespaces: "+bookNamespace("b"), tt.line)
		if l.reload(t) {
			t.Errorf("%s: taken", tt.line)
		}
		if !strings.Contains(l.log.String(), tt.message) {
			t.Errorf("%s: no log of %q", tt.line, tt.message)
		}
		if got := l.get(t, "/urn:book:1"); got.Location != "https://a.example/1" {
			t.Errorf("%s: %+v", tt.line, got)
		}
		if now := [2]string{socketAt(t, l.url[len("http://"):]), socketAt(t, l.admin)}; now != before || now[0] == "" ||
			now[1] == "" || socketAt(t, free) != "" {
			t.Errorf("%s: sockets %q, now %q", tt.line, before, now)
		}
		l.expectMetrics(t, fmt.Sprintf(`config_reloads_total{outcome="failure"} %d`, i+1),
			"config_last_reload_successful 0")
	}
	l.write(t, `listen: {service: "127.0.0.1:0", admin: "127.0.0.1:0"}`, "namespaces: "+bookNamespace("b"))
	if !l.reload(t) {
		t.Error("a good configuration is refused too")
	}
	if got := l.get(t, "/urn:book:1"); got.Location != "https://b.example/1" {
		t.Errorf("%+v", got)
	}
	l.expectMetrics(t, `config_reloads_total{outcome="success"} 1`, "config_last_reload_successful 1")
}

func TestReloadListeners(t *testing.T) {
	t.Parallel()
	began, release := make(chan struct{}), make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		<-release
		_, _ = io.WriteString(w, "late")
	}))
	t.Cleanup(origin.Close)
	first, second, admin := freeAddress(t), freeAddress(t), freeAddress(t)
	path := filepath.Join(t.TempDir(), "admin")
	l := start(t, "listen: {service: '"+first+"', admin: '"+admin+"'}")
	service := socketAt(t, first)
	proxied := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: first})}
	defer proxied.CloseIdleConnections()
	late := make(chan string)
	go func() {
		response, err := (&http.Client{Transport: proxied}).Get(origin.URL)
		if err != nil {
			late <- err.Error()
			return
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		late <- string(body)
	}()
	<-began
	for _, step := range []struct{ service, admin string }{
		{first, ""}, {first, admin}, {first, "unix:" + path}, {second, ""}, {second, admin},
	} {
		l.write(t, "listen: {service: '"+step.service+"', admin: '"+step.admin+"'}")
		if !l.reload(t) {
			t.Fatalf("%+v is refused", step)
		}
		if step.service == first && socketAt(t, first) != service {
			t.Errorf("%+v: another socket for the same address", step)
		}
		l.url = "http://" + step.service
		if got := l.get(t, "/urn:book:1"); got.Status != http.StatusFound {
			t.Errorf("%+v: %+v", step, got)
		}
		testserver.Wait(t, "listen.admin is "+step.admin, func() bool {
			info, err := os.Stat(path)
			return (socketAt(t, admin) != "") == (step.admin == admin) &&
				(err == nil && info.Mode().Perm() == 0o660) == (step.admin == "unix:"+path)
		})
	}
	close(release)
	if got := <-late; got != "late" {
		t.Errorf("a request that runs while its listener goes: %q", got)
	}
	testserver.Wait(t, "the old address is closed", func() bool { return socketAt(t, first) == "" })
	l.expectMetrics(t, `config_reloads_total{outcome="success"} 5`)
}

// TestReloadCaches checks that cached answers survive a reload if nothing changes on which they depend.
func TestReloadCaches(t *testing.T) {
	t.Parallel()
	var requested atomic.Int32
	well := urndtest.Zone(t, urndtest.ExampleRule)
	server := "dns: {servers: ['" + urndtest.UDPAndTCP(func(w dns.ResponseWriter, question *dns.Msg) {
		if strings.HasPrefix(strings.ToLower(question.Question[0].Name), "name.") {
			requested.Add(1)
		}
		well(w, question)
	}).Serve(t) + "'], timeout: 1s}"
	roots := "ddds: {roots: [urn.example.org.]}"
	l := start(t, server, roots)
	for _, tt := range []struct {
		name      string
		lines     []string
		host      string // of urn:book:1
		hit       bool
		requested int32 // for the rules of urn:name:1
	}{
		{"first", nil, "a", false, 1},
		{"again", nil, "a", true, 1},
		{"other limits", []string{"limits: {idle_timeout: 1m, requests: 10}"}, "a", true, 1},
		{"namespaces", []string{"namespaces: " + bookNamespace("b")}, "b", false, 1},
		{"again", []string{"namespaces: " + bookNamespace("b")}, "b", true, 1},
		{
			"the DNS",
			[]string{"dns: " + strings.Replace(server[5:], "1s", "2s", 1), "namespaces: " + bookNamespace("b")},
			"b", false, 2,
		},
		{"back", nil, "a", false, 3},
	} {
		if l.write(t, append([]string{server, roots}, tt.lines...)...); tt.name != "first" && !l.reload(t) {
			t.Errorf("%s: refused", tt.name)
		}
		if got := l.get(t, "/urn:book:1"); got.Location != "https://"+tt.host+".example/1" ||
			strings.HasPrefix(got.CacheStatus, "urnd; hit") != tt.hit {
			t.Errorf("%s: %+v", tt.name, got)
		}
		if got := l.get(t, "/urn:name:1"); got.Location != "https://a.example/1" || requested.Load() != tt.requested ||
			strings.HasPrefix(got.CacheStatus,
				"urnd; hit") != tt.hit {
			t.Errorf("%s: %+v, after %d questions", tt.name, got, requested.Load())
		}
	}
}

func TestReloadWatch(t *testing.T) {
	t.Parallel()
	l := start(t, "reload: {watch: true}")
	l.write(t, "reload: {watch: true}", "namespaces: "+bookNamespace("b"))
	testserver.Wait(t, "a change is in force", func() bool { return l.logged("configuration reloaded") == 1 })
	if got := l.get(t, "/urn:book:1"); got.Location != "https://b.example/1" {
		t.Errorf("%+v", got)
	}
	l.write(t, "reload: {watch: often}")
	testserver.Wait(t, "a fault is refused", func() bool { return l.logged("configuration reload failed") == 1 })
	l.write(t, "reload: {watch: true}")
	testserver.Wait(t, "a change after a fault is in force",
		func() bool { return l.logged("configuration reloaded") == 2 })
	if got := l.get(t, "/urn:book:1"); got.Location != "https://a.example/1" {
		t.Errorf("%+v", got)
	}
}

// TestReloadKeepsConnections checks that requests on a persistent connection use the current configuration
// while the limits of connections are unchanged.
func TestReloadKeepsConnections(t *testing.T) {
	t.Parallel()
	l := start(t)
	conn, err := net.Dial("tcp", l.url[len("http://"):])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for _, host := range []string{"a", "b", "c"} {
		if l.write(t, "namespaces: "+bookNamespace(host)); !l.reload(t) {
			t.Fatal("refused")
		}
		fmt.Fprint(conn, "GET /urn:book:1 HTTP/1.1\r\nHost: urnd.example\r\n\r\n")
		response, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := response.Header.Get("Location"); got != "https://"+host+".example/1" {
			t.Error(got)
		}
	}
}

// TestReloadWhileResolving checks that a running request continues with its original configuration.
func TestReloadWhileResolving(t *testing.T) {
	t.Parallel()
	requested, answer := make(chan struct{}, 1), make(chan struct{})
	well := urndtest.Zone(t, urndtest.ExampleRule)
	server := urndtest.UDPAndTCP(func(w dns.ResponseWriter, question *dns.Msg) {
		if strings.HasPrefix(strings.ToLower(question.Question[0].Name), "name.") {
			requested <- struct{}{}
			<-answer
		}
		well(w, question)
	}).Serve(t)
	roots := "ddds: {roots: [urn.example.org.]}"
	l := start(t, "dns: {servers: ['"+server+"'], timeout: 20s}", roots)
	late := make(chan string)
	go func() {
		response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(httptest.NewRequest(http.MethodGet,
			l.url+"/urn:name:1", nil))
		if err != nil {
			late <- err.Error()
			return
		}
		response.Body.Close()
		late <- response.Header.Get("Location")
	}()
	<-requested
	l.write(t, "ddds: {enabled: false}", "cache: {answers: 2MiB, records: 2MiB}")
	for range 3 {
		if !l.reload(t) {
			t.Error("refused")
		}
	}
	if got := l.get(t, "/urn:name:1"); got.Status != http.StatusNotFound {
		t.Errorf("after the reload: %+v", got)
	}
	close(answer)
	if got := <-late; got != "https://a.example/1" {
		t.Errorf("requested before it: %q", got)
	}
}
