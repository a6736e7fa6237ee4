//go:build e2e

package packaging

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// recipe is a section of docs/recipes.md: its files by path.
type recipe map[string]string

// recipes returns the sections of docs/recipes.md by title.
func recipes(t *testing.T) map[string]recipe {
	t.Helper()
	text := urndtest.ReadFile(t, filepath.Join(urndtest.Root(), "docs", "recipes.md"))
	all := make(map[string]recipe)
	for _, section := range strings.Split(text, "\n## ")[1:] {
		title, rest, _ := strings.Cut(section, "\n")
		files := make(recipe)
		for _, block := range regexp.MustCompile("(?s)```\\w*\n# ((?:/|Container)\\S*(?: \\(end\\))?)\n(.*?)```").FindAllStringSubmatch(rest, -1) {
			files[block[1]] = block[2]
		}
		all[title] = files
	}
	return all
}

const urndFile = "/etc/urnd/urnd.yaml"

// fixture is the fixture for recipes.
type fixture struct{ all map[string]recipe }

// write writes a file of a recipe with other addresses and paths, and returns its path.
func (k *fixture) write(t *testing.T, title, path, folder string, replacements ...string) string {
	t.Helper()
	text, ok := k.all[title][path]
	if !ok {
		t.Fatalf("%q has no %s", title, path)
	}
	for i := 0; i < len(replacements); i += 2 {
		if !strings.Contains(text, replacements[i]) {
			t.Fatalf("%s of %q has no %q", path, title, replacements[i])
		}
	}
	to := filepath.Join(folder, filepath.Base(path))
	if err := os.WriteFile(to, []byte(strings.NewReplacer(replacements...).Replace(text)), 0o644); err != nil {
		t.Fatal(err)
	}
	return to
}

// start runs urnd with the file of a recipe.
func (k *fixture) start(t *testing.T, title string, replacements ...string) *urndtest.Daemon {
	t.Helper()
	return urndtest.StartFile(t, k.write(t, title, urndFile, t.TempDir(), replacements...))
}

// request sends a request to an address with a Host, and returns the response with its body.
func request(t *testing.T, address, host, target string, fields ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+strings.TrimPrefix(address, "http://")+target,
		nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// TestRecipes checks that each recipe of docs/recipes.md works as documented, except for addresses and paths.
func TestRecipes(t *testing.T) {
	t.Parallel()
	k := &fixture{recipes(t)}
	for title, try := range map[string]func(*testing.T, *fixture, string){
		"A public resolver":                             publicResolver,
		"A resolver behind nginx":                       behindNginx,
		"A resolver behind Apache httpd":                behindApache,
		"A resolver behind HAProxy":                     behindHAProxy,
		"A resolver behind Caddy":                       behindCaddy,
		"An office proxy":                               officeProxy,
		"An office that replaces Squid":                 replacesSquid,
		"A gateway of a site":                           gatewayOfSite,
		"A site with two servers and an API below /api": siteWithAPI,
		"An air-gapped resolver":                        airGapped,
		"Prometheus on another machine":                 prometheus,
		"Access logs and logrotate":                     rotated,
		"A container":                                   container,
		"A firewall":                                    firewall,
		"Memory":                                        littleMemory,
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			try(t, k, title)
		})
	}
}

// publicResolver checks that the resolver obtains its certificate and redirects to https.
func publicResolver(t *testing.T, k *fixture, title string) {
	plain, secure := urndtest.FreeAddress(t), urndtest.FreeAddress(t)
	pebble := testserver.StartPebble(t,
		testserver.PebbleConfig{HTTP: netip.MustParseAddrPort(plain), TLS: netip.MustParseAddrPort(secure)})
	file := k.write(t, title, urndFile, t.TempDir(), ":80", plain, ":443", secure)
	d := urndtest.StartFile(t, file, "URND_ACME_DIRECTORY="+pebble.Directory, "URND_ACME_CA="+pebble.CA.File,
		"URND_CACHE_DIRECTORY="+t.TempDir())
	client := &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{
			ServerName:         "urn.example.org",
			InsecureSkipVerify: true,
		}},
		Timeout: testserver.Timeout,
	}
	testserver.Wait(t, "there is a certificate for the name", func() bool {
		response, err := client.Get("https://" + secure + "/")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK &&
			response.TLS.PeerCertificates[0].VerifyHostname("urn.example.org") == nil
	})
	if response, _ := request(t, d.URL, "urn.example.org",
		"/urn:ietf:rfc:2648"); !strings.HasPrefix(response.Header.Get("Location"), "https://urn.example.org") {
		t.Errorf("by http: %s %s", response.Status, response.Header.Get("Location"))
	}
}

// behind is urnd with the file of a recipe, and its access log.
type behind struct {
	*urndtest.Daemon
	log string
}

// startBehind runs urnd behind a front-end server.
func (k *fixture) startBehind(t *testing.T, title string) behind {
	t.Helper()
	log := filepath.Join(t.TempDir(), "access.log")
	file := k.write(t, title, urndFile, t.TempDir())
	text := urndtest.ReadFile(t, file) + "\nlog: {access: [{file: '" + log + "'}]}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return behind{urndtest.StartFile(t, file), log}
}

// requested requests a name from the front-end server; urnd must receive its unmodified spelling and the address
// of the client.
func (b behind) requested(t *testing.T, front string) {
	t.Helper()
	const client = "127.0.0.77"
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(client)}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+front+"/urn:example:a%2Fb/c", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "urn.example.org"
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := response.Header.Get("Location"); response.StatusCode != http.StatusFound ||
		got != "https://books.example.org/a%2Fb/c" {
		t.Errorf("%d, %q", response.StatusCode, got)
	}
	testserver.Wait(t, "urnd logs the request of "+client, func() bool {
		text, _ := os.ReadFile(b.log)
		return strings.Contains(string(text), `"client":"`+client+`"`)
	})
}

func behindNginx(t *testing.T, k *fixture, title string) {
	urnd, front := k.startBehind(t, title), urndtest.FreeAddress(t)
	site := k.write(t, title, "/etc/nginx/sites-enabled/urn.example.org", t.TempDir(), "listen 80", "listen "+front,
		"http://127.0.0.1:8141", urnd.URL)
	testserver.StartNginxProxy(t, testserver.OpenFolder(t), urndtest.ReadFile(t, site))
	urnd.requested(t, front)
}

func behindApache(t *testing.T, k *fixture, title string) {
	urnd, front := k.startBehind(t, title), urndtest.FreeAddress(t)
	site := k.write(t, title, "/etc/apache2/sites-enabled/urn.example.org.conf", t.TempDir(), "*:80", front,
		"http://127.0.0.1:8141", urnd.URL)
	const modules = "/usr/lib/apache2/modules/mod_proxy"
	testserver.StartApache(t, testserver.OpenFolder(t), "Listen "+front,
		"LoadModule proxy_module "+modules+".so", "LoadModule proxy_http_module "+modules+"_http.so",
		urndtest.ReadFile(t, site))
	urnd.requested(t, front)
}

func behindHAProxy(t *testing.T, k *fixture, title string) {
	urnd, front, folder := k.startBehind(t, title), urndtest.FreeAddress(t), testserver.OpenFolder(t)
	file := k.write(t, title, "/etc/haproxy/haproxy.cfg", folder, "bind :80", "bind "+front, "127.0.0.1:8141",
		strings.TrimPrefix(urnd.URL, "http://"))
	testserver.StartFront(t, folder, "haproxy", front, "-db", "-f", file)
	urnd.requested(t, front)
}

func behindCaddy(t *testing.T, k *fixture, title string) {
	urnd, front, folder := k.startBehind(t, title), urndtest.FreeAddress(t), testserver.OpenFolder(t)
	_, port, _ := strings.Cut(front, ":")
	file := k.write(t, title, "/etc/caddy/Caddyfile", folder, "http://urn.example.org {",
		"http://urn.example.org:"+port+" {\n\tbind 127.0.0.1",
		"127.0.0.1:8141", strings.TrimPrefix(urnd.URL, "http://"))
	options := "{\n\tadmin off\n}\n"
	if err := os.WriteFile(file, []byte(options+urndtest.ReadFile(t, file)), 0o644); err != nil {
		t.Fatal(err)
	}
	testserver.StartFront(t, folder, "caddy", front, "run", "--adapter", "caddyfile", "--config", file)
	urnd.requested(t, front)
}

func officeProxy(t *testing.T, k *fixture, title string) {
	k.all[title][urndFile] += k.all[title][urndFile+" (end)"]
	folder := t.TempDir()
	users := filepath.Join(folder, "users")
	if err := os.WriteFile(users, []byte("alice:$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	urnd := k.start(t, title, "/etc/urnd/users", users)
	if response, body := request(t, urnd.URL, "proxy.example.org",
		"/proxy.pac"); response.StatusCode != http.StatusOK || !strings.Contains(body,
		"PROXY proxy.example.org:8141") {
		t.Errorf("%d, %s", response.StatusCode, body)
	}
	if response, _ := request(t, urnd.URL, "www.example.org",
		"/http://www.example.org/"); response.StatusCode == http.StatusOK {
		t.Error("no password is asked for")
	}
	file := k.write(t, title, urndFile, folder, "/etc/urnd/users", users)
	for _, tt := range []struct{ client, method, user, url, answer string }{
		{"10.1.7.3", "GET", "alice", "http://www.bank.example/", `allowed by rule "bank"`},
		{"10.1.7.3", "GET", "alice", "http://www.example.org/", `denied by rule "accounting"`},
		{"10.1.8.3", "GET", "alice", "http://www.example.org/", "allowed"},
		{"10.1.8.3", "POST", "guest", "http://www.example.org/", `denied by rule "guests-read"`},
		{"10.9.0.1", "GET", "alice", "http://www.example.org/", "denied"},
	} {
		// A denial is an error.
		out, _ := exec.Command(urndtest.Binary(t), "access", "test", "--config", file, "--user", tt.user, tt.client,
			tt.method, tt.url).CombinedOutput()
		if !strings.HasPrefix(string(out), tt.answer) {
			t.Errorf("%v: %s", tt, out)
		}
	}
}

// replacesSquid checks that users are looked up in LDAP, that the second parent is used while the first is
// down, and that client addresses are not logged.
func replacesSquid(t *testing.T, k *fixture, title string) {
	testserver.Need(t, "/usr/lib/squid/basic_ldap_auth")
	directory := testserver.StartSLAPD(t, map[string]string{"alice": "secret", "bob": "secret"},
		map[string][]string{"staff": {"alice"}})
	parent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "by the parent: ", r.RequestURI)
	}))
	t.Cleanup(parent.Close)
	folder := t.TempDir()
	blocked, log := filepath.Join(folder, "blocked.txt"), filepath.Join(folder, "access")
	if err := os.WriteFile(blocked, []byte("# closed\n.ads.example\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := k.write(t, title, urndFile, folder, "0.0.0.0:8141", "127.0.0.1:0", "10.1.0.0/16",
		"10.1.0.0/16, 127.0.0.0/8", "10.2.0.0/16", "127.0.0.0/8", "dc=example,dc=org", testserver.LDAPBase,
		"memberUid=%u", "member=uid=%u,"+testserver.LDAPBase, "ldap://ldap.example.org", directory.URL(),
		"http://proxy.one.example:3128", "http://"+urndtest.FreeAddress(t),
		"http://proxy.two.example:3128", parent.URL, "/etc/urnd/blocked.txt", blocked, "/var/log/urnd/access", log)
	urnd := urndtest.StartFile(t, file)
	proxy, err := url.Parse(urnd.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		user, url string
		status    int
	}{
		{"alice", "http://www.example.com/", http.StatusOK},
		{"alice", "http://www.ads.example/", http.StatusForbidden},
		{"bob", "http://www.example.com/", http.StatusForbidden},
		{"", "http://www.example.com/", http.StatusProxyAuthRequired},
	} {
		by := *proxy
		if tt.user != "" {
			by.User = url.UserPassword(tt.user, "secret")
		}
		client := &http.Client{
			Transport: &http.Transport{Proxy: http.ProxyURL(&by), DisableKeepAlives: true},
			Timeout:   testserver.Timeout,
		}
		response, err := client.Get(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if isBy := strings.Contains(string(body), "by the parent"); response.StatusCode != tt.status ||
			isBy != (tt.status == http.StatusOK) {
			t.Errorf("%s, %s: %d, %.200s", tt.user, tt.url, response.StatusCode, body)
		}
	}
	testserver.Wait(t, "requests are logged with the network alone", func() bool {
		text, _ := os.ReadFile(log)
		return strings.Contains(string(text), " 127.0.0.0 ") && !strings.Contains(string(text), "127.0.0.1 ")
	})
	for at, answer := range map[string]string{
		"2026-12-01T09:30": `denied by rule "working-hours"`,
		"2026-12-01T18:30": `allowed by rule "staff"`,
	} {
		out, _ := exec.Command(urndtest.Binary(t), "access", "test", "--config", file, "--user", "alice", "--group",
			"staff", "--at", at, "10.1.7.3", "GET",
			"http://www.social.example/").CombinedOutput() // a denial is an error
		if !strings.HasPrefix(string(out), answer) {
			t.Errorf("%s: %s", at, out)
		}
	}
}

func gatewayOfSite(t *testing.T, k *fixture, title string) {
	var requested []string
	var servers []string
	for range 2 {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requested = append(requested, r.Host+" "+r.Header.Get("X-Forwarded-For"))
			w.Header().Set("Cache-Control", "max-age=600")
		}))
		t.Cleanup(server.Close)
		servers = append(servers, server.URL)
	}
	urnd := k.start(t, title, "http://10.2.0.10:8080", servers[0], "http://10.2.0.11:8080", servers[1], "10.2.0.0/24",
		"127.0.0.0/8")
	first, _ := request(t, urnd.URL, "www.example.org", "/page")
	second, _ := request(t, urnd.URL, "www.example.org", "/page")
	if got := second.Header.Get("Cache-Status"); first.StatusCode != http.StatusOK ||
		!strings.HasPrefix(got, "urnd; hit") {
		t.Errorf("%d, %q", first.StatusCode, got)
	}
	if len(requested) != 1 || requested[0] != "www.example.org 127.0.0.1" {
		t.Errorf("%q", requested)
	}
}

// siteWithAPI checks that requests below /api are sent to a separate server with other paths, and that its
// responses are not stored.
func siteWithAPI(t *testing.T, k *fixture, title string) {
	replacements := []string{"0.0.0.0:80", "127.0.0.1:0", "10.2.0.0/24", "127.0.0.0/8", "10.1.0.0/16", "127.0.0.0/8"}
	for _, name := range []string{"10", "11", "12"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=600")
			fmt.Fprint(w, name, " ", r.URL.Path)
		}))
		t.Cleanup(server.Close)
		replacements = append(replacements, "http://10.2.0."+name+":8080", server.URL)
	}
	urnd := k.start(t, title, replacements...)
	for range 2 {
		response, body := request(t, urnd.URL, "www.example.org", "/api/books")
		if got := response.Header.Get("Cache-Status"); body != "12 /books" || !strings.HasPrefix(got, "urnd; fwd=") {
			t.Errorf("/api/books: %q, %q", body, got)
		}
	}
	first, body := request(t, urnd.URL, "www.example.org", "/page")
	second, _ := request(t, urnd.URL, "www.example.org", "/page")
	if got := second.Header.Get("Cache-Status"); !strings.HasSuffix(body, " /page") || strings.HasPrefix(body, "12") ||
		!strings.HasPrefix(got, "urnd; hit") {
		t.Errorf("/page: %d, %q, %q", first.StatusCode, body, got)
	}
}

func airGapped(t *testing.T, k *fixture, title string) {
	store := "sqlite:" + filepath.Join(t.TempDir(), "registry.db")
	names := filepath.Join(t.TempDir(), "names.csv")
	if err := os.WriteFile(names, []byte("name,target\nurn:example:1,https://books.example.org/1\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(urndtest.Binary(t), "registry", "import", "--store", store,
		names).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	urnd := k.start(t, title, "sqlite:/var/lib/urnd/registry.db", store)
	for name, status := range map[string]int{
		"/urn:example:1": http.StatusFound, "/urn:example:2": http.StatusNotFound,
		"/urn:unheard:1": http.StatusNotFound, "/urn:ietf:rfc:2648": http.StatusFound,
	} {
		if response, body := request(t, urnd.URL, "localhost", name); response.StatusCode != status {
			t.Errorf("%s: %d, %s", name, response.StatusCode, body)
		}
	}
}

func prometheus(t *testing.T, k *fixture, title string) {
	const token = "0123456789abcdef0123456789abcdef"
	credentials := t.TempDir()
	if err := os.WriteFile(filepath.Join(credentials, "admin-token"), []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := k.write(t, title, urndFile, t.TempDir())
	urnd := urndtest.StartFile(t, file, "CREDENTIALS_DIRECTORY="+credentials)
	if response, _ := request(t, urnd.Admin, "127.0.0.1", "/metrics"); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %d", response.StatusCode)
	}
	if response, body := request(t, urnd.Admin, "127.0.0.1", "/metrics", "Authorization",
		"Bearer "+token); response.StatusCode != http.StatusOK || !strings.Contains(body, "urnd_cache_entries") {
		t.Errorf("with it: %d, %.300s", response.StatusCode, body)
	}
}

func rotated(t *testing.T, k *fixture, title string) {
	logrotate := testserver.Need(t, "logrotate")
	if os.Getuid() != 0 {
		t.Skip("logrotate changes to the user root")
	}
	folder := t.TempDir()
	log := filepath.Join(folder, "access.log")
	urnd := k.start(t, title, "/var/log/urnd/access.log", log)
	request(t, urnd.URL, "localhost", "/urn:example:before")
	hangUp := fmt.Sprintf("kill -HUP %d", urnd.Process.Pid)
	rules := k.write(t, title, "/etc/logrotate.d/urnd", folder, "/var/log/urnd/access.log", log,
		"systemctl reload urnd.service >/dev/null 2>&1 || true", hangUp)
	testserver.Wait(t, "the request is logged",
		func() bool { text, _ := os.ReadFile(log); return strings.Contains(string(text), "before") })
	runProgram(t, folder, logrotate, "-f", "-s", filepath.Join(folder, "state"), rules)
	testserver.Wait(t, "requests are logged in a new file", func() bool {
		request(t, urnd.URL, "localhost", "/urn:example:after")
		text, _ := os.ReadFile(log)
		return strings.Contains(string(text), "after") && !strings.Contains(string(text), "before")
	})
	if text := urndtest.ReadFile(t, log+".1"); !strings.Contains(text, "before") {
		t.Errorf("the old file: %s", text)
	}
}

// container simulates the image by a folder that only contains the program of the package: podman needs more
// privileges than tests may require.
func container(t *testing.T, k *fixture, title string) {
	if os.Getuid() != 0 {
		t.Skip("only root can change the root of a process")
	}
	if !strings.Contains(k.all[title]["Containerfile"], `ENTRYPOINT ["/urnd", "serve", "--config", "/urnd.yaml"]`) {
		t.Error("the image is started in another way")
	}
	root := testserver.OpenFolder(t)
	k.write(t, title, "/urnd.yaml", root)
	if err := copyProgram(filepath.Join(debianPackage(t).root, "usr/bin/urnd"),
		filepath.Join(root, "urnd")); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(root, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	const noClient = 65534
	if err := os.Chown(state, noClient, noClient); err != nil {
		t.Fatal(err)
	}
	t.Run("urnd", func(t *testing.T) {
		command := exec.Command("/urnd", "serve", "--config", "/urnd.yaml")
		command.SysProcAttr = &syscall.SysProcAttr{
			Chroot:     root,
			Credential: &syscall.Credential{Uid: noClient, Gid: noClient},
		}
		urnd := urndtest.StartCommand(t, urndtest.OnLoopback(command))
		if response, body := request(t, urnd.URL, "urn.example.org",
			"/urn:ietf:rfc:2648"); response.StatusCode != http.StatusFound {
			t.Errorf("%d, %s", response.StatusCode, body)
		}
	})
	if _, err := os.Stat(filepath.Join(state, "answers")); err != nil {
		t.Errorf("the answers are not saved: %v", err)
	}
}

func firewall(t *testing.T, k *fixture, title string) {
	nft := testserver.Need(t, "nft")
	if os.Getuid() != 0 {
		t.Skip("only root can check rules of nftables")
	}
	runProgram(t, t.TempDir(), nft, "-c", "-f", k.write(t, title, "/etc/nftables.conf", t.TempDir()))
}

func littleMemory(t *testing.T, k *fixture, title string) {
	out, err := exec.Command(urndtest.Binary(t), "config", "check",
		k.write(t, title, urndFile, t.TempDir())).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "is a valid configuration") ||
		strings.Contains(string(out), "warning") {
		t.Errorf("%v: %s", err, out)
	}
	k.start(t, title)
}

// runProgram runs a program in a folder. The test fails if the program fails.
func runProgram(t *testing.T, folder, program string, arguments ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, arguments...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(arguments, " "), err, out)
	}
}
