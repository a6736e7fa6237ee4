package deploy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// stack runs the services of the Compose file as local processes instead of containers, with the same
// configurations except for addresses and paths.
type stack struct {
	t        *testing.T
	secrets  string
	postgres *testserver.Postgres
	valkey   *testserver.Redis
	urnds    []*process
	front    string // address of HAProxy for clients
	health   string // address of its health check
}

// process is a running urnd.
type process struct {
	cmd            *exec.Cmd
	service, admin string
}

// replaced returns a file of the Compose project in which each text is replaced by the text after it; all texts
// must occur.
func replaced(t *testing.T, name string, texts ...string) string {
	t.Helper()
	text := read(t, compose+name)
	for i := 0; i < len(texts); i += 2 {
		if !strings.Contains(text, texts[i]) {
			t.Fatalf("%s has no %q", name, texts[i])
		}
		text = strings.ReplaceAll(text, texts[i], texts[i+1])
	}
	return text
}

func start(t *testing.T) *stack {
	t.Helper()
	s := &stack{t: t, secrets: secrets(t)}
	s.postgres = testserver.StartPostgres(t)
	s.postgres.Query("", fmt.Sprintf("CREATE ROLE urnd LOGIN PASSWORD '%s'", s.secret("registry-password")))
	s.postgres.Query("", "CREATE DATABASE names OWNER urnd")
	s.postgres.RequirePassword("urnd")
	command := loaded(t).Services["valkey"].Command
	s.valkey = testserver.StartRedis(t,
		strings.Split(strings.ReplaceAll(strings.Join(command[3:], "\n"), "/run/secrets", s.secrets), "\n")...)
	names, _ := urnds(t)
	for _, name := range names {
		path := write(t, filepath.Join(t.TempDir(), name+".yaml"), replaced(
			t, "urnd.yaml", "/run/secrets", s.secrets, "':8141'", "'127.0.0.1:0'", "':8142'", "'127.0.0.1:0'",
			"172.30.141.0/24", "127.0.0.1/32", "@postgres/", "@"+s.postgres.Addr()+"/", "valkey:6379", s.valkey.Addr(),
			"notice_time: 5s", "notice_time: 0s", "/var/lib/urnd", t.TempDir(),
		))
		s.urnds = append(s.urnds, s.launch(path))
	}
	s.launchHAProxy(names)
	return s
}

func (s *stack) secret(name string) string {
	return strings.TrimSpace(read(s.t, filepath.Join(s.secrets, name)))
}

// launch starts an urnd and waits until it is ready. It ends with the test, and must exit successfully.
func (s *stack) launch(path string) *process {
	s.t.Helper()
	p := &process{cmd: exec.Command(program(s.t), "serve", "--config", path)}
	p.cmd.Env = environment()
	log, err := p.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	var reported []string
	for p.admin == "" && lines.Scan() {
		reported = append(reported, lines.Text())
		var line struct{ Msg, Service, Admin string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "urnd is ready" {
			p.service, p.admin = line.Service, line.Admin
		}
	}
	rest := make(chan struct{})
	go func() {
		defer close(rest)
		_, _ = io.Copy(io.Discard, log)
	}()
	s.t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		<-rest
		if err := p.cmd.Wait(); err != nil {
			s.t.Errorf("urnd has ended by %v\n%s", err, strings.Join(reported, "\n"))
		}
	})
	if p.admin == "" {
		s.t.Fatalf("urnd is not ready:\n%s", strings.Join(reported, "\n"))
	}
	return p
}

func (s *stack) launchHAProxy(names []string) {
	s.t.Helper()
	dir := testserver.OpenFolder(s.t)
	s.front, s.health = free(s.t), free(s.t)
	texts := []string{
		"bind :8080", "bind " + s.front, "bind 127.0.0.1:8404", "bind " + s.health, " port 8142", "",
		" resolvers docker init-addr none", "",
	}
	for i, name := range names {
		_, port, _ := net.SplitHostPort(s.urnds[i].admin)
		texts = append(texts, name+":8141\n", s.urnds[i].service+" port "+port+"\n")
	}
	path := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(path, []byte(replaced(s.t, "haproxy.cfg", texts...)), 0o644); err != nil {
		s.t.Fatal(err)
	}
	testserver.StartFront(s.t, dir, "haproxy", s.front, "-db", "-f", path)
}

// free returns an unused address.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// get requests a path and returns the status and Location.
func get(t *testing.T, address, path string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "urn.example.org"
	r.Close = true
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Logf("%s%s: %v", address, path, err)
		return 0, ""
	}
	defer response.Body.Close()
	return response.StatusCode, response.Header.Get("Location")
}

// healthcheck runs the health check of a service of the Compose file.
func (s *stack) healthcheck(service string, replacements ...string) error {
	test := loaded(s.t).Services[service].HealthCheck.Test
	words := strings.Split(strings.NewReplacer(replacements...).Replace(strings.Join(test[1:], "\x00")), "\x00")
	command := exec.Command(words[0], words[1:]...)
	command.Env = environment()
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// TestStack checks that the three urnds behind HAProxy share a registry and a second-level cache, with the
// secrets generated by secrets.sh.
func TestStack(t *testing.T) {
	s := start(t)
	testserver.Wait(t, "HAProxy leads to an urnd that is ready", func() bool {
		status, location := get(t, s.front, "/urn:ietf:rfc:2648")
		return status == http.StatusFound && strings.Contains(location, "rfc2648")
	})
	names := write(t, filepath.Join(t.TempDir(), "names.csv"),
		"name,target\nurn:nbn:fi:example-1,https://example.org/one\n")
	imports := exec.Command(program(t), "registry", "import", "--store", "postgres://urnd@"+s.postgres.Addr()+"/names",
		names)
	imports.Env = environment("PGPASSWORD=" + s.secret("registry-password"))
	if out, err := imports.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	testserver.Wait(t, "a name of the registry is answered", func() bool {
		_, location := get(t, s.front, "/urn:nbn:fi:example-1")
		return location == "https://example.org/one"
	})
	for _, p := range s.urnds {
		if status := s.importByJob(p,
			"name,target\nurn:nbn:fi:example-2,https://example.org/two\n"); status != http.StatusAccepted {
			t.Errorf("the urnd at %s takes no job: %d", p.admin, status)
		}
	}
	_, health, _ := strings.Cut(s.health, ":")
	for service, replacements := range map[string][]string{
		"haproxy": {"8404", health},
		"urnd-1":  {"/usr/bin/urnd", program(t), "/run/secrets", s.secrets, "127.0.0.1:8142", s.urnds[0].admin},
		"valkey":  {"valkey-cli", "redis-cli", "ping", "-p\x00" + strings.Split(s.valkey.Addr(), ":")[1] + "\x00ping"},
	} {
		if err := s.healthcheck(service, replacements...); err != nil {
			t.Errorf("the healthcheck of %s: %v", service, err)
		}
	}
	for _, p := range s.urnds {
		if metrics := s.metrics(p); !strings.Contains(metrics, "urnd_shared_cache_used 1\n") {
			t.Errorf("the urnd at %s does not use the second level:\n%s", p.service, metrics)
		}
		if status, _ := get(t, p.admin, "/metrics"); status != http.StatusUnauthorized {
			t.Errorf("metrics are shown without the token: %d", status)
		}
	}
}

func (s *stack) metrics(p *process) string {
	s.t.Helper()
	_, text := s.administer(p, http.MethodGet, "/metrics", "")
	return text
}

// importByJob imports a table of names and returns the status.
func (s *stack) importByJob(p *process, table string) int {
	s.t.Helper()
	status, _ := s.administer(p, http.MethodPost, "/api/v1/jobs", table)
	return status
}

// administer sends a request with the token and a CSV table as its body to the admin interface of an urnd.
func (s *stack) administer(p *process, method, path, body string) (status int, text string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+p.admin+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.secret("admin-token"))
	r.Header.Set("Content-Type", "text/csv")
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}
